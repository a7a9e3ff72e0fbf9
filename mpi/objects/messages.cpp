// SPDX-License-Identifier: BSD-3-Clause
// Messages to single objects: sent to the last known rank of the object, and forwarded from there. A forwarded message
// arrives after the object that it follows, because records between two ranks stay in order.
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

void SchedulerState::send(Message* message) {
    MessageHeader& header = message->header;
    header.kind = MessageKind::call;
    header.origin = transport->rank();
    Array& array = *arrays[header.array];
    if (options.measure || array.settings.is_ordered) {
        Traffic& sent =
            (current != nullptr ? current->sent : sent_by_main)[ObjectKey::make(header.array, header.index)];
        sent.bytes += header.bytes;
        ++sent.messages;
        if (array.settings.is_ordered) {
            header.is_sequenced = true;
            header.sequence = sent.next_sequence++;
        }
    }
    header.sender = current != nullptr ? ObjectKey::make(current->array, current->index)
                                       : ObjectKey::make(ObjectKey::main_program,
                                                         static_cast<std::uint64_t>(transport->rank()));
    if (array.residents.find(header.index) != nullptr) return queue.push(message);
    if (array.user_array == nullptr) return Message::discard(message);
    transport->send(get_last_known_rank(array, header.index), header, message->values());
    Message::discard(message);
}

void SchedulerState::forward_message(const MessageHeader& header, const char* values) {
    if (arrays[header.array]->user_array == nullptr) return;  // the array of the object was removed
    const int to = get_last_known_rank(*arrays[header.array], header.index);
    if (to == transport->rank()) fail(describe_object(header.array, header.index) + " is on no rank");
    MessageHeader forwarded = header;
    forwarded.was_forwarded = true;
    transport->send(to, forwarded, values);
}

/// Releases the bytes of a message, so that its source can send more.
void SchedulerState::release_message(Message* message) {
    if (message->from >= 0) transport->release(std::exchange(message->from, -1), message->header);
}

void SchedulerState::release_and_discard(Message* message) {
    release_message(message);
    Message::discard(message);
}

}  // namespace topoloom::objects
