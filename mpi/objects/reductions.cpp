// SPDX-License-Identifier: BSD-3-Clause
// Reductions: values are combined on each rank, and go up a tree of ranks together with how many they are, so that it does
// not matter where an object was when it contributed. Those of a section for one object go straight to the rank of that
// object, when all members of a rank have contributed.
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

void State::contribute(const PartialHead& head, const char* value, std::size_t bytes) {
    Partial& partial = partials[{head.group.number, head.group.turn}];
    if (partial.head.contributions == 0) {
        partial.head = head;
        partial.value.assign(value, value + bytes);
    } else {
        const Target &target = head.target, &first = partial.head.target;
        if (target.kind != first.kind || target.array != first.array || target.entry != first.entry ||
            target.index != first.index || head.operation != partial.head.operation)
            fail("objects contribute to one reduction by different operations or for different results");
        const auto combine = target.kind == Target::callback
                                 ? callbacks[target.entry].combine
                                 : arrays[target.array]->type.entries[target.entry].combine;
        if (combine == nullptr || !combine(head.operation, partial.value, value, bytes))
            fail("a reduction cannot combine values of this type by this operation");
        partial.head.contributions += head.contributions;
    }
    const bool is_direct = is_for_one_object(head.group, head.target);
    if ((is_direct || transport->rank() == 0) && partial.head.contributions == partial.head.group.members) {
        const Partial finished = std::move(partial);
        partials.erase({head.group.number, head.group.turn});
        finish(finished);
    } else if (is_direct && partial.head.contributions >= partial.head.group.here && send_on(partial)) {
        partials.erase({head.group.number, head.group.turn});
    }
}

/// When this rank has nothing else to do.
void State::send_partials() {
    std::erase_if(partials, [&](const auto& entry) { return send_on(entry.second); });
}

/// To where it is combined with others; false: that is here.
bool State::send_on(const Partial& partial) {
    const Target& target = partial.head.target;
    const int here = transport->rank();
    int to = parent_of(here);
    if (is_for_one_object(partial.head.group, target)) {
        if (resident(target.array, target.index) != nullptr) return false;
        if (arrays[target.array]->front == nullptr) return true;
        to = whereabouts(*arrays[target.array], target.index);
        if (to == here) fail(name_of(target.array, target.index) + " is on no rank");
    } else if (here == 0) {
        return false;
    }
    PartialHead head = partial.head;
    head.group.here = 0;
    Header header;
    header.kind = Kind::partial;
    header.bytes = static_cast<std::uint32_t>(sizeof head + partial.value.size());
    std::vector<char> packed(header.bytes);
    std::memcpy(packed.data(), &head, sizeof head);
    if (!partial.value.empty())
        std::memcpy(packed.data() + sizeof head, partial.value.data(), partial.value.size());
    transport->send(to, header, packed.data());
    return true;
}

void State::finish(const Partial& partial) {
    const Target& target = partial.head.target;
    Message* const message = Message::make(partial.value.size());
    if (!partial.value.empty()) std::memcpy(message->values(), partial.value.data(), partial.value.size());
    message->header.entry = target.entry;
    message->header.array = static_cast<std::uint16_t>(target.array);
    message->header.index = target.index;
    Resident* const interrupted = std::exchange(current, nullptr);
    if (target.kind == Target::everyone) {
        broadcast(message);
    } else if (target.kind == Target::element) {
        send(message);
    } else {
        message->header.kind = Kind::result;
        take_result(message->header, message->values());
        Message::discard(message);
    }
    current = interrupted;
}

void State::take_result(const Header& header, const char* values) {
    each_child(transport->rank(), transport->ranks(),
               [&](int child) { transport->send(child, header, values); });
    queue.push(Message::copy(header, values));
}

}  // namespace topoloom::objects
