// SPDX-License-Identifier: BSD-3-Clause
// A value that is computed on first use. Thread-safe.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

namespace topoloom {

/// If make() throws, the next caller tries again. Does not use std::call_once, which hangs in this case on
/// some platforms.
template <class T>
class Lazy {
   public:
    template <class Make>
    const T& get(const Make& make) {
        if (!made_.load(std::memory_order_acquire)) {
            const std::lock_guard hold(mutex_);
            if (!value_) value_.emplace(make());
            made_.store(true, std::memory_order_release);
        }
        return *value_;
    }

   private:
    std::atomic<bool> made_ = false;
    std::mutex mutex_;
    std::optional<T> value_;
};

}  // namespace topoloom
