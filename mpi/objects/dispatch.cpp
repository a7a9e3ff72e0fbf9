// SPDX-License-Identifier: BSD-3-Clause
// Dispatches received records by kind, and calls methods and callbacks.
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

/// Receives a record. An exception must not lose the other records of the message, so run() rethrows it later.
bool SchedulerState::receive_record(int from, const MessageHeader& header, const char* values) {
    try {
        return dispatch_record(from, header, values);
    } catch (...) {
        if (pending_exception == nullptr) pending_exception = std::current_exception();
        return false;
    }
}

/// Dispatches a record by its kind. Returns whether the record is queued.
bool SchedulerState::dispatch_record(int from, const MessageHeader& header, const char* values) {
    if (header.kind != MessageKind::call) {
        dispatch_control_record(header, values);
        return false;
    }
    const Resident* const here = find_resident(header.array, header.index);
    if (here == nullptr) {
        forward_message(header, values);
        return false;
    }
    if (header.was_forwarded)
        report_location({header.array, header.index}, header.origin, {transport->rank(), here->moves});
    Message* const message = Message::copy(header, values);
    message->from = from;
    queue.push(message);
    return true;
}

/// Dispatches a record that does not call a method of one object.
void SchedulerState::dispatch_control_record(const MessageHeader& header, const char* values) {
    switch (header.kind) {
        case MessageKind::broadcast_request:
            return broadcast(Message::copy(header, values));
        case MessageKind::broadcast:
            return receive_broadcast(header, values);
        case MessageKind::multicast:
            return receive_multicast(header, values);
        case MessageKind::partial: {
            PartialHeader partial;
            std::memcpy(&partial, values, sizeof partial);
            return contribute(partial, values + sizeof partial, header.bytes - sizeof partial);
        }
        case MessageKind::insertion:
            return receive_insertion(Message::copy(header, values));
        case MessageKind::insertions_done:
            return receive_insertions_done(header);
        case MessageKind::exchange_opened:
            return open_exchange(header);
        case MessageKind::combined:
            return receive_combined(header, values);
        case MessageKind::reduction_result:
            return distribute_result(header, values);
        case MessageKind::migration:
            return receive_migrating_object(header, values);
        case MessageKind::location: {
            Location location;
            std::memcpy(&location, values, sizeof location);
            return record_location(*arrays[header.array], header.index, location);
        }
        default:
            fail("a message has the unknown kind " + std::to_string(static_cast<int>(header.kind)));
    }
}

void SchedulerState::deliver_message(Message* message) {
    const MessageHeader& header = message->header;
    if (header.kind == MessageKind::reduction_result) {
        const std::unique_ptr<Message, decltype(&Message::discard)> owned(message, &Message::discard);
        try {
            Reader reader(message->values(), header.bytes);
            callbacks[header.entry].invoke(reader);
        } catch (...) {
            fail("callback " + std::to_string(header.entry) + " threw " + describe_exception());
        }
        return;
    }
    Resident* const here = find_resident(header.array, header.index);
    if (here == nullptr) {  // the object has left while the message was queued
        forward_message(header, message->values());
        return release_and_discard(message);
    }
    if (!header.is_sequenced) return invoke_method(*here, message);
    std::uint32_t& expected = here->expected[header.sender];
    if (header.sequence != expected) {
        release_message(message);  // so that messages before it in the sequence can be sent
        return here->out_of_order.push_back(message);
    }
    ++expected;
    // If the next message is already here, put it at the front of the queue, because it has overtaken the others.
    for (std::size_t i = 0; i < here->out_of_order.size(); ++i) {
        Message* const next = here->out_of_order[i];
        if (next->header.sender != header.sender || next->header.sequence != expected) continue;
        here->out_of_order.erase(here->out_of_order.begin() + static_cast<std::ptrdiff_t>(i));
        queue.push_front(next);
        break;
    }
    invoke_method(*here, message);
}

void SchedulerState::invoke_method(Resident& resident, Message* message) {
    const auto discard_it = [this](Message* called) { release_and_discard(called); };
    const std::unique_ptr<Message, decltype(discard_it)> owned(message, discard_it);
    const MessageHeader& header = message->header;
    const MethodEntry& entry = arrays[header.array]->type.entries[header.entry];
    const double begin = options.measure ? read_wall_clock() : 0, blocked_before = blocked_seconds;
    const int target_before = resident.target_rank;
    current = &resident;
    try {
        Reader reader(message->values(), header.bytes);
        entry.invoke(resident.object, reader);
    } catch (...) {
        current = nullptr;
        resident.target_rank = target_before;
        fail(describe_object(resident.array, resident.index) + ": " + std::string(entry.name) + " threw " +
             describe_exception());
    }
    current = nullptr;
    if (options.measure) {
        const double end = read_wall_clock();
        calls.emplace_back(&resident, end - begin - (blocked_seconds - blocked_before));
        if (end - last_clock > assign_interval) assign_method_times();
    }
}

}  // namespace topoloom::objects
