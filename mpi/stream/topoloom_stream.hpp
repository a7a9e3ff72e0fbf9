// SPDX-License-Identifier: BSD-3-Clause
// topoloom::Stream<T>: streams of small messages with inline pushes. A handler may be any callable.
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

/// An MPI error code and its message. Thrown if the communicator's error handler returns.
class StreamError : public std::runtime_error {
   public:
    explicit StreamError(int code) : std::runtime_error(get_error_text(code)), code_(code) {}
    [[nodiscard]] int code() const { return code_; }

   private:
    static std::string get_error_text(int code) {
        const std::string reason = topoloom_stream_error(code);
        return reason.empty() ? "a stream operation failed" : reason;
    }

    int code_;
};

namespace detail {

/// Exception of a handler, stored until the delivering call rethrows it, because exceptions must not pass through C
/// code.
inline std::exception_ptr& pending_exception() {
    thread_local std::exception_ptr pending;
    return pending;
}

inline void check(int status) {
    if (status == TOPOLOOM_STREAM_STOPPED && pending_exception() != nullptr)
        std::rethrow_exception(std::exchange(pending_exception(), nullptr));
    if (status != MPI_SUCCESS) throw StreamError(status);
}

/// Calls a handler for each item. An item whose handler throws counts as processed.
template <typename T, typename Handler>
int handle_items(void* context, const void* items, int count) {
    Handler& handler = *static_cast<Handler*>(context);
    const T* item = static_cast<const T*>(items);
    const T* const end = item + count;
    try {
        while (item != end) handler(*item++);
    } catch (...) {
        pending_exception() = std::current_exception();
    }
    const int taken = static_cast<int>(item - static_cast<const T*>(items));
    return pending_exception() == nullptr ? taken : ~taken;
}

}  // namespace detail

/// A stream of items of type T; see topoloom_stream.h. Not thread-safe. Functions throw StreamError.
template <typename T>
    requires(std::is_trivially_copyable_v<T> && alignof(T) <= 64)
class Stream {
   public:
    /// Creates a stream whose handler is called for each item. Collective. Exceptions of the handler are thrown by the
    /// push, progress or wait that delivers the item; later calls deliver the remaining items. A push that throws has
    /// not pushed its item.
    template <std::invocable<const T&> Handler>
    Stream(MPI_Comm comm, Handler handler, const topoloom_stream_options& options = {}) {
        auto owned = std::make_unique<OwnedHandler<Handler>>(std::move(handler));
        create(comm, &detail::handle_items<T, Handler>, &owned->handler, options);
        handler_ = std::move(owned);
    }
    /// Creates a stream without a handler, whose items must be pulled. Collective.
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
    /// Frees the stream between two phases; collective. During stack unwinding, abandons the stream instead.
    ~Stream() {
        if (std::uncaught_exceptions() > exceptions_ || topoloom_stream_free(&stream_) != MPI_SUCCESS)
            topoloom_stream_abandon(&stream_);
    }

    /// Pushes an item. Returns false if the item was not pushed, which occurs only without a handler: pull first.
    bool push(const T& item, int rank) {
        const auto to = static_cast<uint32_t>(rank);
        if (to < stream_->open_ranks) [[likely]] {
            const uint32_t hop = stream_->next_hops != nullptr ? stream_->next_hops[to] : to;
            topoloom_stream_bucket& bucket = stream_->buckets[hop];
            if (bucket.next != bucket.end && hop < stream_->plain_hops) [[likely]] {
                std::memcpy(bucket.next, &item, sizeof(T));
                bucket.next += sizeof(T);
                return true;
            }
        }
        return push_out_of_line(item, rank);
    }
    /// Pushes an urgent item, whose bucket is sent at once on each hop.
    bool push_urgent(const T& item, int rank) {
        const int status = topoloom_stream_push_urgent(stream_, &item, sizeof(T), rank);
        if (status == TOPOLOOM_STREAM_FULL) return false;
        detail::check(status);
        return true;
    }
    /// Returns the next delivered item, if any.
    [[nodiscard]] std::optional<T> pull() {
        const void* item = nullptr;
        int bytes = 0;
        detail::check(topoloom_stream_pull(stream_, &item, &bytes));
        if (item == nullptr) return std::nullopt;
        return *static_cast<const T*>(item);
    }
    /// Sends all non-empty buckets.
    void flush() { detail::check(topoloom_stream_flush(stream_)); }
    /// Ends the pushes of this rank in this phase.
    void done() { detail::check(topoloom_stream_done(stream_)); }
    /// Receives, delivers and sends without waiting. Returns true once, when the phase has ended on all ranks.
    bool progress() {
        int ended = 0;
        detail::check(topoloom_stream_progress(stream_, &ended));
        return ended != 0;
    }
    /// Calls done, then progress until the phase has ended.
    void wait() { detail::check(topoloom_stream_wait(stream_)); }

    [[nodiscard]] topoloom_stream c_stream() const { return stream_; }

   private:
    struct AnyHandler {
        virtual ~AnyHandler() = default;
    };
    template <typename Handler>
    struct OwnedHandler : AnyHandler {
        explicit OwnedHandler(Handler&& given) : handler(std::move(given)) {}
        Handler handler;
    };

    /// By value and not inlined, so that items and counters stay in registers in loops that push.
    [[gnu::noinline, gnu::cold]] bool push_out_of_line(T item, int rank) {
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
    int exceptions_ = std::
        uncaught_exceptions();  // at construction; a higher count in the destructor means stack unwinding
    std::unique_ptr<AnyHandler> handler_;
};

}  // namespace topoloom

#endif
