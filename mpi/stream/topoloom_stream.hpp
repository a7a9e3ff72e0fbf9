// SPDX-License-Identifier: BSD-3-Clause
// topoloom::Stream<T>: streams of small messages for C++, pushed in line and handled by any callable.
#ifndef TOPOLOOM_STREAM_HPP
#define TOPOLOOM_STREAM_HPP

#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "topoloom_stream.h"

namespace topoloom {

/// MPI's error code, and why, where the communicator's error handler returns.
class StreamError : public std::runtime_error {
   public:
    explicit StreamError(int code) : std::runtime_error(text_of(code)), code_(code) {}
    [[nodiscard]] int code() const { return code_; }

   private:
    static std::string text_of(int code) {
        const std::string why = topoloom_stream_error(code);
        return why.empty() ? "a call of a stream failed" : why;
    }

    int code_;
};

namespace detail {

/// What a handler has thrown, from there to the call that delivers.
inline std::exception_ptr& thrown() {
    thread_local std::exception_ptr pending;
    return pending;
}

inline void check(int status) {
    if (status == TOPOLOOM_STREAM_STOPPED && thrown() != nullptr)
        std::rethrow_exception(std::exchange(thrown(), nullptr));
    if (status != MPI_SUCCESS) throw StreamError(status);
}

/// Calls a handler for each of the items. One that throws has taken its item.
template <typename T, typename Handler>
int take_items(void* context, const void* items, int count) {
    Handler& handler = *static_cast<Handler*>(context);
    const T* at = static_cast<const T*>(items);
    const T* const end = at + count;
    try {
        while (at != end) handler(*at++);
    } catch (...) {
        thrown() = std::current_exception();
    }
    const int taken = static_cast<int>(at - static_cast<const T*>(items));
    return thrown() == nullptr ? taken : ~taken;
}

}  // namespace detail

/// Items of one type that ranks push to each other; see topoloom_stream.h. `Handler` is called with each, by reference.
/// Not thread-safe.
template <typename T>
    requires(std::is_trivially_copyable_v<T> && alignof(T) <= 64)
class Stream {
   public:
    /// Collective. What a handler throws leaves the push, progress or wait that delivers; the items behind it come later.
    /// A push that throws has not pushed.
    template <std::invocable<const T&> Handler>
    Stream(MPI_Comm comm, Handler handler, const topoloom_stream_options& options = {}) {
        auto kept = std::make_unique<Kept<Handler>>(std::move(handler));
        create(comm, &detail::take_items<T, Handler>, &kept->handler, options);
        handler_ = std::move(kept);
    }
    /// Collective. Items are pulled.
    explicit Stream(MPI_Comm comm, const topoloom_stream_options& options = {}) {
        create(comm, nullptr, nullptr, options);
    }
    Stream(Stream&& other) noexcept
        : stream_(std::exchange(other.stream_, nullptr)),
          exceptions_(other.exceptions_),
          handler_(std::move(other.handler_)) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(exceptions_, other.exceptions_);
        std::swap(handler_, other.handler_);
        return *this;
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    /// Collective, between two phases. When an exception ends the scope the stream is abandoned instead.
    ~Stream() {
        if (std::uncaught_exceptions() > exceptions_ || topoloom_stream_free(&stream_) != MPI_SUCCESS)
            topoloom_stream_abandon(&stream_);
    }

    /// False only where items are pulled: it is not pushed, as something must be pulled first.
    bool push(const T& item, int rank) {
        const auto to = static_cast<uint32_t>(rank);
        if (to < stream_->ranks) [[likely]] {
            const uint32_t hop = stream_->hops != nullptr ? stream_->hops[to] : to;
            topoloom_stream_bucket& bucket = stream_->buckets[hop];
            if (bucket.at != bucket.end && hop < stream_->plain_hops) [[likely]] {
                std::memcpy(bucket.at, &item, sizeof(T));
                bucket.at += sizeof(T);
                return true;
            }
        }
        return push_slowly(item, rank);
    }
    /// The same for an item that waits nowhere: on each hop its bucket leaves at once.
    bool push_urgent(const T& item, int rank) {
        const int status = topoloom_stream_push_urgent(stream_, &item, sizeof(T), rank);
        if (status == TOPOLOOM_STREAM_FULL) return false;
        detail::check(status);
        return true;
    }
    /// Nothing: there is none now.
    [[nodiscard]] std::optional<T> pull() {
        const void* item = nullptr;
        int bytes = 0;
        detail::check(topoloom_stream_pull(stream_, &item, &bytes));
        if (item == nullptr) return std::nullopt;
        return *static_cast<const T*>(item);
    }
    void flush() { detail::check(topoloom_stream_flush(stream_)); }
    /// This rank pushes no more in this phase.
    void done() { detail::check(topoloom_stream_done(stream_)); }
    /// Whether the phase has ended on all ranks.
    bool progress() {
        int ended = 0;
        detail::check(topoloom_stream_progress(stream_, &ended));
        return ended != 0;
    }
    /// Done, and progress to the end of the phase.
    void wait() { detail::check(topoloom_stream_wait(stream_)); }

    [[nodiscard]] topoloom_stream c_stream() const { return stream_; }

   private:
    struct Anything {
        virtual ~Anything() = default;
    };
    template <typename Handler>
    struct Kept : Anything {
        explicit Kept(Handler&& given) : handler(std::move(given)) {}
        Handler handler;
    };

    /// By value and out of line, so that items and what counts them stay in registers where they are pushed.
    [[gnu::noinline, gnu::cold]] bool push_slowly(T item, int rank) {
        const int status = topoloom_stream_push_bytes(stream_, &item, sizeof(T), rank);
        if (status == TOPOLOOM_STREAM_FULL) return false;
        detail::check(status);
        return true;
    }

    void create(MPI_Comm comm, topoloom_stream_handler* handler, void* context,
                const topoloom_stream_options& options) {
        detail::check(topoloom_stream_create(comm, sizeof(T), handler, context, &options, &stream_));
    }

    topoloom_stream stream_ = nullptr;
    int exceptions_ = std::uncaught_exceptions();  // that were thrown and not caught when it was made
    std::unique_ptr<Anything> handler_;
};

}  // namespace topoloom

#endif
