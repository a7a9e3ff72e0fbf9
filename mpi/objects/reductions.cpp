// SPDX-License-Identifier: BSD-3-Clause
// Reductions: each rank combines values, and sends them up a tree of ranks with the number of contributions.
// So it does not matter on which rank an object is when it contributes. In a reduction over a section for one
// object, a rank sends its value directly to the rank of that object, as soon as all members on the rank have
// contributed.
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

void SchedulerState::contribute(const PartialHeader& header, const char* value, std::size_t bytes) {
    PartialResult& partial = partials[{header.group.number, header.group.round}];
    if (partial.header.contributions == 0) {
        partial.header = header;
        partial.value.assign(value, value + bytes);
    } else {
        const ReductionTarget &target = header.target, &first = partial.header.target;
        if (target.kind != first.kind || target.array != first.array || target.entry != first.entry ||
            target.index != first.index || header.operation != partial.header.operation)
            fail("objects contribute to one reduction with different operations or targets");
        const auto combine = target.kind == ReductionTarget::callback
                                 ? callbacks[target.entry].combine
                                 : arrays[target.array]->type.entries[target.entry].combine;
        if (combine == nullptr || !combine(header.operation, partial.value, value, bytes))
            fail("a reduction cannot combine values of this type by this operation");
        partial.header.contributions += header.contributions;
    }
    const bool is_direct = is_for_one_object(header.group, header.target);
    if ((is_direct || transport->rank() == 0) &&
        partial.header.contributions == partial.header.group.members) {
        const PartialResult finished = std::move(partial);
        partials.erase({header.group.number, header.group.round});
        finish_reduction(finished);
    } else if (is_direct && partial.header.contributions >= partial.header.group.here &&
               forward_partial(partial)) {
        partials.erase({header.group.number, header.group.round});
    }
}

/// Forwards all partial results. Called when this rank is idle.
void SchedulerState::forward_partials() {
    std::erase_if(partials, [&](const auto& entry) { return forward_partial(entry.second); });
}

/// Forwards a partial result to the rank that combines it with others. Returns false if this rank combines it.
bool SchedulerState::forward_partial(const PartialResult& partial) {
    const ReductionTarget& target = partial.header.target;
    const int here = transport->rank();
    int to = get_parent_rank(here);
    if (is_for_one_object(partial.header.group, target)) {
        if (find_resident(target.array, target.index) != nullptr) return false;
        if (arrays[target.array]->user_array == nullptr) return true;
        to = get_last_known_rank(*arrays[target.array], target.index);
        if (to == here) fail(describe_object(target.array, target.index) + " is on no rank");
    } else if (here == 0) {
        return false;
    }
    PartialHeader forwarded = partial.header;
    forwarded.group.here = 0;
    MessageHeader header;
    header.kind = MessageKind::partial;
    header.bytes = static_cast<std::uint32_t>(sizeof forwarded + partial.value.size());
    std::vector<char> packed(header.bytes);
    std::memcpy(packed.data(), &forwarded, sizeof forwarded);
    if (!partial.value.empty())
        std::memcpy(packed.data() + sizeof forwarded, partial.value.data(), partial.value.size());
    transport->send(to, header, packed.data());
    return true;
}

void SchedulerState::finish_reduction(const PartialResult& partial) {
    const ReductionTarget& target = partial.header.target;
    Message* const message = Message::make(partial.value.size());
    if (!partial.value.empty()) std::memcpy(message->values(), partial.value.data(), partial.value.size());
    message->header.entry = target.entry;
    message->header.array = static_cast<std::uint16_t>(target.array);
    message->header.index = target.index;
    Resident* const interrupted = std::exchange(current, nullptr);
    if (target.kind == ReductionTarget::everyone) {
        broadcast(message);
    } else if (target.kind == ReductionTarget::element) {
        send(message);
    } else {
        message->header.kind = MessageKind::reduction_result;
        distribute_result(message->header, message->values());
        Message::discard(message);
    }
    current = interrupted;
}

void SchedulerState::distribute_result(const MessageHeader& header, const char* values) {
    for_each_child(transport->rank(), transport->ranks(),
                   [&](int child) { transport->send(child, header, values); });
    queue.push(Message::copy(header, values));
}

}  // namespace topoloom::objects
