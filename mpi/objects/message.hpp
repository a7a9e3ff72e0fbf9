// SPDX-License-Identifier: BSD-3-Clause
// Messages in memory and in transit, and the priority queue of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

enum class MessageKind : std::uint8_t {
    call,               // of a method
    broadcast_request,  // a broadcast on its way to rank 0, which numbers broadcasts
    broadcast,          // `index` is the number of the broadcast
    multicast,          // a multicast: lists of members, followed by the values
    partial,            // part of a reduction: a PartialHeader, followed by the value
    reduction_result,   // for a callback
    migration,          // an object
    location,           // the Location of the object with number `index`
    // Kinds for combined exchanges, whose round is in `sequence`:
    insertion,        // a call that will be combined with others
    insertions_done,  // an object has inserted `index` messages, and is done
    exchange_opened,
    combined  // ranks and messages of stage `entry`
};

struct MessageHeader {
    std::uint64_t index = 0;   // index of the destination object
    std::uint64_t sender = 0;  // an ObjectKey
    std::int32_t priority = 0;
    std::uint32_t bytes = 0;     // number of bytes after the header
    std::uint32_t sequence = 0;  // sequence number between a sender and an object of an ordered array
    std::int32_t origin = 0;     // rank that first sent the message
    std::uint32_t entry = 0;
    std::uint16_t array = 0;
    MessageKind kind = MessageKind::call;
    bool is_sequenced = false;
    bool was_forwarded = false;
    std::uint8_t padding = 0;
    std::uint16_t exchange = 0;
    Route route = Route::tree;  // of a multicast
    std::uint8_t unused[3] = {};
};
static_assert(sizeof(MessageHeader) == 48);

struct alignas(16) Message {
    Message* next = nullptr;
    MessageHeader header;
    std::int32_t from = -1;  // rank that is told when the bytes are released; -1: none
    [[nodiscard]] char* values() { return reinterpret_cast<char*>(this + 1); }

    static Message* make(std::size_t bytes) {
        Message* const made = new (::operator new(sizeof(Message) + bytes)) Message();
        made->header.bytes = static_cast<std::uint32_t>(bytes);
        return made;
    }
    static Message* copy(const MessageHeader& header, const char* values) {
        Message* const made = make(header.bytes);
        made->header = header;
        if (header.bytes > 0) std::memcpy(made->values(), values, header.bytes);
        return made;
    }
    static void discard(Message* message) { ::operator delete(message); }
};

/// Priority queue: lowest priority value first; first in, first out for equal priorities.
class MessageQueue {
   public:
    MessageQueue() = default;
    MessageQueue(const MessageQueue&) = delete;
    MessageQueue& operator=(const MessageQueue&) = delete;
    ~MessageQueue() {
        while (Message* const message = pop()) Message::discard(message);
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    void push(Message* message) {
        ++count_;
        get_list(*message).push_back(message);
    }
    void push_front(Message* message) {
        ++count_;
        get_list(*message).push_front(message);
    }
    /// Returns the next message, or null if the queue is empty.
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
    struct MessageList {
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
    MessageList& get_list(const Message& message) {
        return message.header.priority == 0 ? common_ : others_[message.header.priority];
    }
    MessageList common_;  // queue of priority 0, which is by far the most frequent
    std::map<int, MessageList> others_;
    std::size_t count_ = 0;
};

}  // namespace topoloom::objects
