// SPDX-License-Identifier: BSD-3-Clause
// Combining units, which merge the packets of reductions.
#include "topoloom/base/error.hpp"
#include "topoloom/network/crosspoint/crosspoint_network.hpp"

namespace topoloom {

namespace {

/// The operation number of the next packet from the same branch or combiner as `packet`.
template <class Vertex, class Packet>
auto& next_operation(Vertex& vertex, const Packet& packet) {
    return packet.branch != no_index ? vertex.branches[packet.branch].combined
                                     : vertex.combiners[packet.combiner].combined;
}

}  // namespace

/// The combiner that merges a packet; no_index if the packet is forwarded unchanged.
std::uint32_t CrosspointNetwork::combiner_for(const TreeVertex& vertex, const StoredPacket& stored) {
    if (vertex.combiners.empty()) return no_index;
    return stored.branch != no_index ? vertex.branches[stored.branch].combiner
                                     : vertex.combiners[stored.combiner].above;
}

/// Whether the combiner's table has space for the packet's operation.
bool CrosspointNetwork::can_combine(const StoredPacket& stored) const {
    const TreeVertex& vertex = trees_.vertices()[stored.vertex];
    const Combiner& taker = vertex.combiners[combiner_for(vertex, stored)];
    return next_operation(vertex, stored) < taker.first + taker.table.size();
}

void CrosspointNetwork::start_combining(std::uint32_t sink, std::uint32_t packet) {
    StoredPacket& stored = stored_[packet];
    stored.operation = next_operation(trees_.vertices()[stored.vertex], stored)++;
    std::uint64_t& taken_until = sinks_[sink].taken_until;
    reserve_time(taken_until, packets_[packet].order.flits, combine_.period);
    const std::uint64_t end = std::max(taken_until / ChannelTimes::cycle, now_ + 1);
    schedule_event(end, EventKind::combined, packet);
    if (sinks_[sink].waiting > 0) wake_sink_when_free(sink);
}

void CrosspointNetwork::combine(std::uint32_t packet) {
    const StoredPacket& stored = stored_[packet];
    const PacketRequest order = packets_[packet].order;
    const std::uint32_t at = stored.vertex;
    TreeVertex& vertex = trees_.vertices()[at];
    const std::uint32_t number = combiner_for(vertex, stored);
    Combiner& taker = vertex.combiners[number];
    Combiner::Operation& operation = taker.table[stored.operation % taker.table.size()];
    if (operation.there > 0 && operation.message != order.message)
        fail("members of group ", vertex.group, " send their messages in different orders");
    operation.message = order.message;
    const bool is_whole = ++operation.there == taker.needed;
    finish_copy(packet, now_);
    if (!is_whole) return;
    operation.there = 0;
    const std::uint32_t result = make_packet(order, {});
    stored_[result] = {.source = source_of(vertex, taker),
                       .lane = vertex.lane,
                       .vertex = at,
                       .combiner = number,
                       .tail = now_ + inside_};
    schedule_event(now_ + inside_, EventKind::enter, result);
}

}  // namespace topoloom
