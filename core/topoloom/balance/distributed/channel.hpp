// SPDX-License-Identifier: BSD-3-Clause
// The channel through which a rank sends and receives messages, and the coroutine type of functions that use
// it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace topoloom {

using Payload = std::vector<std::int64_t>;

/// The phase to which a message belongs; only messages of the same phase match.
enum class Topic : std::uint8_t {
    sum,
    sums_up,
    sums_down,
    line_up,
    merge,
    next_up,
    next_down,
    gather,
    result
};

struct Message {
    std::uint32_t to;
    Topic topic;
    Payload payload;
};

/// The outgoing messages of one rank, and the message for which it waits.
class PeerChannel {
   public:
    void send(std::uint32_t to, Topic topic, Payload payload) {
        out_.push_back({to, topic, std::move(payload)});
    }

    /// Awaits the payload of the next message from a rank, or from any rank. Messages of one rank arrive in
    /// order.
    auto receive(std::optional<std::uint32_t> from, Topic topic) {
        struct Receive {
            PeerChannel& channel;
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> waiting) const { channel.waiting_ = waiting; }
            [[nodiscard]] Payload await_resume() const { return std::move(channel.in_); }
        };
        from_ = from;
        topic_ = topic;
        return Receive{*this};
    }

    [[nodiscard]] std::optional<std::uint32_t> from() const { return from_; }
    [[nodiscard]] Topic topic() const { return topic_; }
    [[nodiscard]] std::vector<Message> take_messages() { return std::exchange(out_, {}); }
    /// Resumes the waiting coroutine and passes it the payload.
    void deliver(Payload payload) {
        in_ = std::move(payload);
        std::exchange(waiting_, {}).resume();
    }

   private:
    std::vector<Message> out_;
    Payload in_;
    std::optional<std::uint32_t> from_;
    Topic topic_ = Topic::sum;
    std::coroutine_handle<> waiting_;
};

/// A lazily started coroutine with a result. Started by co_await or start().
template <class Result>
class [[nodiscard]] Coroutine {
   public:
    // Names required by the language.
    struct promise_type {  // NOLINT(readability-identifier-naming)
        std::coroutine_handle<> caller;
        std::optional<Result> result;
        std::exception_ptr error;

        struct FinalAwaiter {
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> own) const noexcept {
                return own.promise().caller ? own.promise().caller : std::noop_coroutine();
            }
            void await_resume() const noexcept {}
        };
        Coroutine get_return_object() {
            return Coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        FinalAwaiter final_suspend() noexcept { return {}; }
        void return_value(Result value) { result = std::move(value); }
        void unhandled_exception() { error = std::current_exception(); }
    };

    Coroutine(Coroutine&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Coroutine& operator=(Coroutine&&) = delete;
    Coroutine(const Coroutine&) = delete;
    Coroutine& operator=(const Coroutine&) = delete;
    ~Coroutine() {
        if (handle_) handle_.destroy();
    }

    void start() { handle_.resume(); }
    [[nodiscard]] bool done() const { return handle_.done(); }
    /// Returns the result after completion. Rethrows an exception that the coroutine threw.
    Result take() {
        if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
        return std::move(*handle_.promise().result);
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        handle_.promise().caller = caller;
        return handle_;
    }
    Result await_resume() { return take(); }

   private:
    explicit Coroutine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

}  // namespace topoloom
