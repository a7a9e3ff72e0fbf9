// SPDX-License-Identifier: BSD-3-Clause
// Messages to single objects: sent where the object was when last heard of, and passed on from there.
//
// A rank that an object has left knows where it went, and what it sends there comes behind the object. An object that arrives
// reports to its home rank. So a message that follows what ranks know meets ever later stations of its object, and
// finds it; the rank where it does reports that to the sender, for its next messages.
#include <exception>
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

Resident* State::resident(std::uint32_t array, std::uint64_t index) {
    Resident** const found = arrays[array]->residents.find(index);
    return found == nullptr ? nullptr : *found;
}

int State::home(const Array& array, std::uint64_t index) const {
    if (array.setting.home) return array.setting.home(index);
    const auto ranks = static_cast<std::uint64_t>(transport->ranks());
    return static_cast<int>(index * ranks / array.setting.extents.count());
}

int State::whereabouts(Array& array, std::uint64_t index) const {
    const Location* const known = array.locations.find(index);
    return known != nullptr ? known->rank : home(array, index);
}

void State::locate(Array& array, std::uint64_t index, const Location& location) {
    if (location.rank == transport->rank() || array.residents.find(index) != nullptr) return;
    Location& known = array.locations[index];
    if (location.moves >= known.moves) known = location;
}

void State::send(Message* message) {
    Header& header = message->header;
    header.kind = Kind::to_object;
    header.origin = transport->rank();
    const std::uint64_t to = Sender::of(header.array, header.index);
    Array& array = *arrays[header.array];
    if (options.measures || array.setting.is_ordered) {
        Sent& sent = (current != nullptr ? current->sent : sent_by_main)[to];
        sent.bytes += header.bytes;
        ++sent.messages;
        if (array.setting.is_ordered) {
            header.is_sequenced = true;
            header.sequence = sent.next++;
        }
    }
    header.sender = current != nullptr
                        ? Sender::of(current->array, current->index)
                        : Sender::of(Sender::main_program, static_cast<std::uint64_t>(transport->rank()));
    if (array.residents.find(header.index) != nullptr) return queue.push(message);
    if (array.front == nullptr) return Message::discard(message);
    transport->send(whereabouts(array, header.index), header, message->values());
    Message::discard(message);
}

/// What fails here must not keep from the others of a message what is theirs.
bool State::take(int from, const Header& header, const char* values) {
    try {
        return take_one(from, header, values);
    } catch (...) {
        if (trouble == nullptr) trouble = std::current_exception();
        return false;
    }
}

/// Whether it waits in the queue.
bool State::take_one(int from, const Header& header, const char* values) {
    switch (header.kind) {
        case Kind::to_object:
            if (const Resident* const here = resident(header.array, header.index)) {
                if (header.was_forwarded)
                    say_where({header.array, header.index}, header.origin, {transport->rank(), here->moves});
                Message* const message = Message::copy(header, values);
                message->from = from;
                queue.push(message);
                return true;
            }
            pass_on(header, values);
            return false;
        case Kind::to_root:
            broadcast(Message::copy(header, values));
            return false;
        case Kind::to_all:
            take_broadcast(header, values);
            return false;
        case Kind::to_some:
            take_multicast(header, values);
            return false;
        case Kind::partial: {
            PartialHead head;
            std::memcpy(&head, values, sizeof head);
            contribute(head, values + sizeof head, header.bytes - sizeof head);
            return false;
        }
        case Kind::inserted:
            take_inserted(Message::copy(header, values));
            return false;
        case Kind::done_inserting:
            take_done(header);
            return false;
        case Kind::opens_bracket:
            take_opening(header);
            return false;
        case Kind::combined:
            take_combined(header, values);
            return false;
        case Kind::result:
            take_result(header, values);
            return false;
        case Kind::arrival:
            arrive(header, values);
            return false;
        case Kind::located: {
            Location location;
            std::memcpy(&location, values, sizeof location);
            locate(*arrays[header.array], header.index, location);
            return false;
        }
    }
    return false;
}

/// The rank that it came from may send more.
void State::release(Message* message) {
    if (message->from >= 0) transport->release(std::exchange(message->from, -1), message->header);
}

void State::discard(Message* message) {
    release(message);
    Message::discard(message);
}

void State::pass_on(const Header& header, const char* values) {
    if (arrays[header.array]->front == nullptr) return;  // what was left when its array went
    const int to = whereabouts(*arrays[header.array], header.index);
    if (to == transport->rank()) fail(name_of(header.array, header.index) + " is on no rank");
    Header onwards = header;
    onwards.was_forwarded = true;
    transport->send(to, onwards, values);
}

void State::say_where(const Address& object, int to, const Location& location) {
    if (to == transport->rank()) return;
    Header header;
    header.kind = Kind::located;
    header.array = object.array;
    header.index = object.index;
    header.bytes = sizeof location;
    transport->send(to, header, reinterpret_cast<const char*>(&location));
}

void State::deliver(Message* message) {
    const Header& header = message->header;
    if (header.kind == Kind::result) {
        const std::unique_ptr<Message, decltype(&Message::discard)> held(message, &Message::discard);
        try {
            Reader reader(message->values(), header.bytes);
            callbacks[header.entry].invoke(reader);
        } catch (...) {
            fail("callback " + std::to_string(header.entry) + " threw " + thrown_text());
        }
        return;
    }
    Resident* const here = resident(header.array, header.index);
    if (here == nullptr) {  // it has left while the message waited
        pass_on(header, message->values());
        return discard(message);
    }
    if (!header.is_sequenced) return call(*here, message);
    std::uint32_t& expected = here->expected[header.sender];
    if (header.sequence != expected) {
        release(message);  // those that it waits for may need the room
        return here->early.push_back(message);
    }
    ++expected;
    // The one behind it may be here already; it goes before all others, as they have overtaken it.
    for (std::size_t i = 0; i < here->early.size(); ++i) {
        Message* const next = here->early[i];
        if (next->header.sender != header.sender || next->header.sequence != expected) continue;
        here->early.erase(here->early.begin() + static_cast<std::ptrdiff_t>(i));
        queue.push_front(next);
        break;
    }
    call(*here, message);
}

}  // namespace topoloom::objects
