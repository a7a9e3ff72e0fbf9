// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts and multicasts.
//
// Rank 0 numbers broadcasts, and sends them down a tree of ranks in this order. Each rank stores the broadcasts of the
// phase. A migrating object carries the number of broadcasts delivered to it. So the new rank delivers exactly the
// broadcasts that the object has not received.
#include <algorithm>
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

void SchedulerState::broadcast(Message* message) {
    message->header.origin = transport->rank();
    if (transport->rank() == 0) {
        message->header.kind = MessageKind::broadcast;
        message->header.index = arrays[message->header.array]->broadcast_count + 1;
        receive_broadcast(message->header, message->values());
    } else {
        message->header.kind = MessageKind::broadcast_request;
        transport->send(0, message->header, message->values());
    }
    Message::discard(message);
}

void SchedulerState::receive_broadcast(const MessageHeader& header, const char* values) {
    for_each_child(transport->rank(), transport->ranks(),
                   [&](int child) { transport->send(child, header, values); });
    Array& array = *arrays[header.array];
    array.broadcast_count = header.index;
    Message* const kept = Message::copy(header, values);
    kept->header.kind = MessageKind::call;
    kept->header.was_forwarded = false;
    array.broadcasts.push_back(kept);
    array.residents.for_each(
        [&](std::uint64_t, Resident* resident) { deliver_broadcasts(array, *resident); });
}

void SchedulerState::deliver_broadcasts(Array& array, Resident& resident) {
    const std::uint64_t first = array.broadcast_count - array.broadcasts.size();
    while (resident.broadcasts < array.broadcast_count) {
        const Message* const stored = array.broadcasts[resident.broadcasts++ - first];
        Message* const copy = Message::copy(stored->header, reinterpret_cast<const char*>(stored + 1));
        copy->header.index = resident.index;
        queue.push(copy);
    }
}

void SchedulerState::discard_broadcasts() {
    for (const auto& array : arrays) {
        for (Message* const message : array->broadcasts) Message::discard(message);
        array->broadcasts.clear();
    }
}

/// Delivers to members on this rank. On a tree route, splits the list of the other ranks: sends the upper
/// half of the list to the first rank in it, and repeats this for the lower half.
void SchedulerState::multicast(const MessageHeader& header, const std::vector<std::uint64_t>& members,
                               const char* values) {
    Array& array = *arrays[header.array];
    if (array.user_array == nullptr) return;
    std::vector<std::pair<int, std::uint64_t>> others;  // pairs: last known rank, member
    for (const std::uint64_t member : members) {
        if (array.residents.find(member) == nullptr) {
            others.emplace_back(get_last_known_rank(array, member), member);
            if (others.back().first == transport->rank())
                fail(describe_object(header.array, member) + " is on no rank");
            continue;
        }
        Message* const message = Message::copy(header, values);
        message->header.kind = MessageKind::call;
        message->header.index = member;
        queue.push(message);
    }
    std::ranges::stable_sort(others, {}, &std::pair<int, std::uint64_t>::first);
    std::vector<std::size_t> starts;  // indices in `others` of each rank's first member
    for (std::size_t i = 0; i < others.size(); ++i)
        if (i == 0 || others[i].first != others[i - 1].first) starts.push_back(i);
    while (!starts.empty()) {
        const std::size_t ranks = starts.size();
        const std::size_t half = header.route == Route::tree   ? ranks / 2
                                 : header.route == Route::ring ? 0
                                                               : ranks - 1;
        const std::size_t begin = starts[half];
        const std::size_t end_of_first = half + 1 < starts.size() ? starts[half + 1] : others.size();
        const std::uint64_t count = others.size() - begin;
        std::vector<std::uint64_t> listed{count, end_of_first - begin};
        for (std::size_t i = begin; i < others.size(); ++i) listed.push_back(others[i].second);
        const std::size_t bytes = listed.size() * sizeof listed[0];
        std::vector<char> packed(bytes + header.bytes);
        std::memcpy(packed.data(), listed.data(), bytes);
        if (header.bytes > 0) std::memcpy(packed.data() + bytes, values, header.bytes);
        MessageHeader forwarded = header;
        forwarded.kind = MessageKind::multicast;
        forwarded.bytes = static_cast<std::uint32_t>(packed.size());
        transport->send(others[begin].first, forwarded, packed.data());
        others.resize(begin);
        starts.resize(half);
    }
}

void SchedulerState::receive_multicast(const MessageHeader& header, const char* values) {
    std::uint64_t counts[2];  // number of all members, and of members expected on this rank
    std::memcpy(counts, values, sizeof counts);
    std::vector<std::uint64_t> members(counts[0]);
    const std::size_t bytes = sizeof counts + members.size() * sizeof members[0];
    std::memcpy(members.data(), values + sizeof counts, bytes - sizeof counts);
    for (std::size_t i = 0; i < counts[1]; ++i) {
        const Location* const known = arrays[header.array]->locations.find(members[i]);
        if (known != nullptr) report_location({header.array, members[i]}, header.origin, *known);
    }
    MessageHeader plain = header;
    plain.bytes -= static_cast<std::uint32_t>(bytes);
    multicast(plain, members, values + bytes);
}

}  // namespace topoloom::objects
