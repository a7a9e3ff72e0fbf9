// SPDX-License-Identifier: BSD-3-Clause
// What a rank says and hears: coroutines that send letters, and wait for those of others.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace topoloom {

using Words = std::vector<std::int64_t>;

/// What letters are about: those of different steps are never mistaken for each other.
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

struct Letter {
    std::uint32_t to;
    Topic topic;
    Words words;
};

/// Of one rank: letters that are to be sent, and the one that it waits for.
class Conversation {
   public:
    void send(std::uint32_t to, Topic topic, Words words) { out_.push_back({to, topic, std::move(words)}); }

    /// Awaited: the words of the next letter from a rank, or from any. Letters from one rank come in the order sent.
    auto receive(std::optional<std::uint32_t> from, Topic topic) {
        struct Receive {
            Conversation& conversation;
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> waiting) const { conversation.waiting_ = waiting; }
            [[nodiscard]] Words await_resume() const { return std::move(conversation.in_); }
        };
        from_ = from;
        topic_ = topic;
        return Receive{*this};
    }

    [[nodiscard]] std::optional<std::uint32_t> from() const { return from_; }
    [[nodiscard]] Topic topic() const { return topic_; }
    [[nodiscard]] std::vector<Letter> take_letters() { return std::exchange(out_, {}); }
    /// Goes on with the letter that was waited for.
    void deliver(Words words) {
        in_ = std::move(words);
        std::exchange(waiting_, {}).resume();
    }

   private:
    std::vector<Letter> out_;
    Words in_;
    std::optional<std::uint32_t> from_;
    Topic topic_ = Topic::sum;
    std::coroutine_handle<> waiting_;
};

/// What a rank does until it has a result, or a part of it. It begins when it is awaited, or by start().
template <class Result>
class [[nodiscard]] Dialog {
   public:
    // The names in it are those of the language.
    struct promise_type {  // NOLINT(readability-identifier-naming)
        std::coroutine_handle<> caller;
        std::optional<Result> result;
        std::exception_ptr problem;

        struct End {
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> own) const noexcept {
                return own.promise().caller ? own.promise().caller : std::noop_coroutine();
            }
            void await_resume() const noexcept {}
        };
        Dialog get_return_object() {
            return Dialog(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        End final_suspend() noexcept { return {}; }
        void return_value(Result value) { result = std::move(value); }
        void unhandled_exception() { problem = std::current_exception(); }
    };

    Dialog(Dialog&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Dialog& operator=(Dialog&&) = delete;
    Dialog(const Dialog&) = delete;
    Dialog& operator=(const Dialog&) = delete;
    ~Dialog() {
        if (handle_) handle_.destroy();
    }

    void start() { handle_.resume(); }
    [[nodiscard]] bool done() const { return handle_.done(); }
    /// Once done. Throws what the part threw.
    Result take() {
        if (handle_.promise().problem) std::rethrow_exception(handle_.promise().problem);
        return std::move(*handle_.promise().result);
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        handle_.promise().caller = caller;
        return handle_;
    }
    Result await_resume() { return take(); }

   private:
    explicit Dialog(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

}  // namespace topoloom
