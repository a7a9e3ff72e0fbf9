// SPDX-License-Identifier: BSD-3-Clause
// Messages as they wait and as they travel, and the queue in which they wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

enum class Kind : std::uint8_t {
    to_object,  // a call of a method
    to_root,    // a broadcast that rank 0 is to number
    to_all,     // a broadcast: `index` is its number
    to_some,    // a multicast: groups of members, then the values
    partial,    // of a reduction: a PartialHead, then the value
    result,     // for a callback
    arrival,    // an object
    located,    // where an object has arrived: `index`, and Location
    // Of brackets, whose turn is `sequence`:
    inserted,        // a call of a method, to be combined with others
    done_inserting,  // an object has inserted `index` messages
    opens_bracket,
    combined  // ranks and messages; `entry` is the stage
};

struct Header {
    std::uint64_t index = 0;   // of the object that it is for
    std::uint64_t sender = 0;  // see Sender
    std::int32_t priority = 0;
    std::uint32_t bytes = 0;     // behind the header
    std::uint32_t sequence = 0;  // between a sender and an object of an ordered array
    std::int32_t origin = 0;     // the rank that sent it first
    std::uint32_t entry = 0;
    std::uint16_t array = 0;
    Kind kind = Kind::to_object;
    bool is_sequenced = false;
    bool was_forwarded = false;
    std::uint8_t padding = 0;
    std::uint16_t bracket = 0;
    Route route = Route::tree;  // of a multicast
    std::uint8_t unused[3] = {};
};
static_assert(sizeof(Header) == 48);

struct alignas(16) Message {
    Message* next = nullptr;
    Header header;
    std::int32_t from = -1;  // the rank that is to hear when it is taken
    [[nodiscard]] char* values() { return reinterpret_cast<char*>(this + 1); }

    static Message* make(std::size_t bytes) {
        Message* const made = new (::operator new(sizeof(Message) + bytes)) Message();
        made->header.bytes = static_cast<std::uint32_t>(bytes);
        return made;
    }
    static Message* copy(const Header& header, const char* values) {
        Message* const made = make(header.bytes);
        made->header = header;
        if (header.bytes > 0) std::memcpy(made->values(), values, header.bytes);
        return made;
    }
    static void discard(Message* message) { ::operator delete(message); }
};

/// The lowest priority first, and first in, first out within one.
class Queue {
   public:
    Queue() = default;
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue() {
        while (Message* const message = pop()) Message::discard(message);
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    void push(Message* message) {
        ++count_;
        (message->header.priority == 0 ? common_ : others_[message->header.priority]).push_back(message);
    }
    void push_front(Message* message) {
        ++count_;
        (message->header.priority == 0 ? common_ : others_[message->header.priority]).push_front(message);
    }
    /// Null: none.
    Message* pop() {
        if (count_ == 0) return nullptr;
        --count_;
        const auto lowest = others_.begin();
        if (lowest == others_.end() || (lowest->first > 0 && common_.first != nullptr)) return common_.pop();
        Message* const message = lowest->second.pop();
        if (lowest->second.first == nullptr) others_.erase(lowest);
        return message;
    }

   private:
    struct Line {
        Message* first = nullptr;
        Message* last = nullptr;
        void push_back(Message* message) {
            message->next = nullptr;
            (first == nullptr ? first : last->next) = message;
            last = message;
        }
        void push_front(Message* message) {
            message->next = first;
            if (first == nullptr) last = message;
            first = message;
        }
        Message* pop() { return std::exchange(first, first->next); }
    };
    Line common_;  // priority 0, which is that of most
    std::map<int, Line> others_;
    std::size_t count_ = 0;
};

}  // namespace topoloom::objects
