// SPDX-License-Identifier: BSD-3-Clause
// A value that is made when first asked for, by whichever thread asks.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

namespace topoloom {

/// If making it throws, the next who asks tries again: std::call_once may hang then, on some platforms.
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
