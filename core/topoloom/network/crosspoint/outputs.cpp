// SPDX-License-Identifier: BSD-3-Clause
// Crosspoint buffers, and the outputs that send their packets.
#include <bit>
#include <limits>

#include "topoloom/network/crosspoint/crosspoint_network.hpp"

namespace topoloom {

void CrosspointNetwork::enter_switch(std::uint32_t packet) {
    const StoredPacket& stored = stored_[packet];
    flits_stored_ += packets_[packet].order.flits;
    if (has_input_queues()) enqueue_at_input(packet);
    if (stored.vertex != no_index) return enter_tree(packet);
    const ChannelId next = paths_.next_hops() != nullptr
                               ? choose_channel(router_of(stored.source), packets_[packet].order.to)
                               : packets_.advance(packet).channel;
    enqueue(packet, output_of(next), no_index);
}

/// Of the channels on shortest routes, chooses the one with the fewest flits queued for it and behind it.
/// Breaks ties randomly. (If ties were broken by input index, a complement pattern would have no conflicts,
/// but all messages of a transpose pattern would leave a switch over the same channels.)
ChannelId CrosspointNetwork::choose_channel(std::uint32_t router, Node to) {
    ChannelId best;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max(), ties = 0;
    paths_.next_hops()->for_each_output(router, to, [&](ChannelId next) {
        const std::uint32_t load = queued_flits(next);
        if (load > least) return;
        ties = load < least ? 1 : ties + 1;
        least = load;
        if (ties == 1 || choices_.below(ties) == 0) best = next;
    });
    return best;
}

void CrosspointNetwork::enter_tree(std::uint32_t packet) {
    const StoredPacket stored = stored_[packet];
    const TreeVertex& vertex = trees_.vertices()[stored.vertex];
    const bool is_result = stored.branch == no_index;
    const bool combines = trees_.collective(vertex.group) != SwitchCollective::multicast;
    if (combines && (is_result || stored.branch != vertex.up)) {
        if (const std::uint32_t taker = combiner_for(vertex, stored); taker != no_index)
            return enqueue(packet, unit_of(vertex, vertex.combiners[taker]), no_index);
        if (vertex.up != no_index)
            return enqueue(packet, output_of(vertex.branches[vertex.up].out), vertex.up);
    }
    for (std::uint32_t b = 0; b < vertex.branches.size(); ++b)
        if (b != stored.branch) enqueue(packet, output_of(vertex.branches[b].out), b);
}

/// Adds a packet to the queue for an output or unit. Units need complete packets. A packet that arrives more
/// slowly than it can leave is delayed until its flits can leave without a gap.
void CrosspointNetwork::enqueue(std::uint32_t packet, std::uint32_t sink, std::uint32_t branch) {
    StoredPacket& stored = stored_[packet];
    const std::uint32_t flits = packets_[packet].order.flits;
    const std::uint64_t leaving =
        is_unit(sink) ? 0 : transfer_cycles(flits, period_[fabric_.channel_at_output(sink).value]);
    const PacketCopy copy{packet, branch, no_index, std::max(now_ + leaving, stored.tail) - leaving};
    std::uint32_t number = unused_copy_;
    if (number == no_index) {
        number = static_cast<std::uint32_t>(copies_.size());
        copies_.push_back(copy);
    } else {
        unused_copy_ = copies_[number].next;
        copies_[number] = copy;
    }
    ++stored.copies;
    Sink& at = sinks_[sink];
    at.waiting += flits;
    const std::uint32_t place = queue_index(stored, at.router);
    Queue& queue = queues_[at.first_queue + place];
    if (queue.first == no_index) {
        queue.first = number;
        filled_[at.first_word + place / 64] |= std::uint64_t{1} << (place % 64);
    } else {
        copies_[queue.last].next = number;
    }
    queue.last = number;
    if (copy.ready > now_) return schedule_event(copy.ready, EventKind::wake_sink, sink);
    wake_sink(sink);
}

/// The arbiter selects a queue among those whose front packet can be sent. Sends this packet.
void CrosspointNetwork::serve_sink(std::uint32_t sink) {
    Sink& at = sinks_[sink];
    if (is_busy(at.taken_until)) return;
    Grant grant;
    const bool in_turns = options_.arbiter == Arbiter::round_robin;
    for (std::uint32_t base = 0; base < at.requesters; base += 64)
        for (std::uint64_t filled = filled_[at.first_word + base / 64]; filled != 0; filled &= filled - 1) {
            const std::uint32_t place = base + static_cast<std::uint32_t>(std::countr_zero(filled));
            const PacketCopy& copy = copies_[queues_[at.first_queue + place].first];
            if (copy.ready > now_ || !can_send(sink, copy)) continue;
            grant.consider(place,
                           in_turns ? at.turn.distance(place, at.requesters) : arbiter_priority(copy.packet));
        }
    if (grant.requester == no_index) return;
    at.turn.advance_past(grant.requester, at.requesters);
    if (options_.fanout == Fanout::whole)
        return send_all(copies_[queues_[at.first_queue + grant.requester].first].packet);
    const PacketCopy copy = take_copy(sink, grant.requester);
    is_unit(sink) ? start_combining(sink, copy.packet) : send(sink, copy);
}

/// Removes the first copy from a queue and returns it.
CrosspointNetwork::PacketCopy CrosspointNetwork::take_copy(std::uint32_t sink, std::uint32_t place) {
    Sink& at = sinks_[sink];
    Queue& queue = queues_[at.first_queue + place];
    const std::uint32_t number = queue.first;
    const PacketCopy copy = copies_[number];
    queue.first = copy.next;
    if (queue.first == no_index) filled_[at.first_word + place / 64] &= ~(std::uint64_t{1} << (place % 64));
    copies_[number].next = unused_copy_;
    unused_copy_ = number;
    at.waiting -= packets_[copy.packet].order.flits;
    return copy;
}

std::uint32_t CrosspointNetwork::arbiter_priority(std::uint32_t packet) {
    if (options_.arbiter == Arbiter::random) return choices_.next() >> 1;
    constexpr std::uint64_t oldest = (1U << 31) - 1;
    return static_cast<std::uint32_t>(oldest - std::min(now_ - packets_[packet].order.made, oldest));
}

bool CrosspointNetwork::can_send(std::uint32_t sink, const PacketCopy& copy) {
    if (is_unit(sink)) return can_combine(stored_[copy.packet]);
    if (has_input_queues() && !is_at_front(copy.packet)) return false;
    if (options_.fanout == Fanout::whole) return can_send_all(copy.packet);
    return has_room(copy, fabric_.channel_at_output(sink));
}

bool CrosspointNetwork::has_room(const PacketCopy& copy, ChannelId channel) const {
    return fabric_.channel(channel).is_exit() || choose_window(copy, channel) != no_index;
}

/// Returns the window of the packet's group, or of the allowed virtual channel with the most credits. Returns
/// no_index if there are no credits.
std::uint32_t CrosspointNetwork::choose_window(const PacketCopy& copy, ChannelId channel) const {
    const StoredPacket& stored = stored_[copy.packet];
    if (stored.vertex == no_index) {
        const bool chooses = paths_.next_hops() != nullptr;
        return vc_with_most_credits(
            channel,
            chooses ? vc_range(0, vcs_) : classed_.allowed_vcs(packets_.hop(copy.packet), stored.lane));
    }
    const std::uint32_t own = trees_.vertices()[stored.vertex].branches[copy.branch].window;
    if (own == no_index) return vc_with_most_credits(channel, vc_range(0, vcs_));
    return credits_[own] > 0 ? own : no_index;
}

std::uint32_t CrosspointNetwork::vc_with_most_credits(ChannelId channel, VcMask open) const {
    std::uint32_t best = no_index, most = 0;
    for (; open != 0; open &= open - 1) {
        const std::uint32_t window =
            channel.value * vcs_ + static_cast<std::uint32_t>(std::countr_zero(open));
        if (credits_[window] <= most) continue;
        best = window;
        most = credits_[window];
    }
    return best;
}

void CrosspointNetwork::send(std::uint32_t sink, const PacketCopy& copy) {
    const ChannelId channel = fabric_.channel_at_output(sink);
    const std::uint32_t flits = packets_[copy.packet].order.flits;
    const std::uint32_t window = fabric_.channel(channel).is_exit() ? no_index : choose_window(copy, channel);
    std::uint64_t& taken_until = sinks_[sink].taken_until;
    const std::uint64_t gone = now_ + reserve_time(taken_until, flits, period_[channel.value]);
    if (sinks_[sink].waiting > 0) wake_sink_when_free(sink);
    flit_hops_ += flits;
    if (has_input_queues()) record_departure(copy.packet, sink);
    const StoredPacket before = stored_[copy.packet];
    if (before.vertex == no_index) {
        return_credits(before, flits, gone);
        return transmit(copy.packet, packets_[copy.packet].order.to, {}, channel, window, gone);
    }
    const std::uint32_t twin = make_packet(packets_[copy.packet].order, {});
    const TreeBranch& branch = trees_.vertices()[before.vertex].branches[copy.branch];
    finish_copy(copy.packet, gone);
    transmit(twin, branch.member, {branch.next, branch.back}, channel, window, gone);
}

/// Records that a copy of the packet has left; frees the packet after its last copy.
void CrosspointNetwork::finish_copy(std::uint32_t packet, std::uint64_t gone) {
    StoredPacket& stored = stored_[packet];
    stored.gone = std::max(stored.gone, gone);
    if (--stored.copies > 0) return;
    return_credits(stored, packets_[packet].order.flits, stored.gone);
    end_packet(packet);
}

/// Gives the credits of a packet that has left back to its sender.
void CrosspointNetwork::return_credits(const StoredPacket& stored, std::uint32_t flits, std::uint64_t gone) {
    flits_stored_ -= flits;
    if (stored.window != no_index)
        return schedule_event(gone + delay_[channel_of_[stored.window].value], EventKind::credit,
                              stored.window);
    schedule_event(std::max(gone, now_ + 1), EventKind::left, stored.vertex, stored.combiner);
}

/// Sends a packet over a channel to a node or to a vertex of its tree.
void CrosspointNetwork::transmit(std::uint32_t packet, Node to, TreePosition place, ChannelId id,
                                 std::uint32_t window, std::uint64_t gone) {
    const Channel& channel = fabric_.channel(id);
    carried_[id.value] += packets_[packet].order.flits;
    const std::uint64_t there = now_ + delay_[id.value], all_there = gone + delay_[id.value];
    if (channel.is_exit()) return schedule_event(all_there, EventKind::receive, packet, to.value);
    --credits_[window];
    const bool has_own = window >= fabric_.channel_count() * vcs_;
    stored_[packet] = {.source = channel.input,
                       .window = window,
                       .lane = has_own ? trees_.vertices()[place.vertex].lane : window - id.value * vcs_,
                       .vertex = place.vertex,
                       .branch = place.branch,
                       .tail = all_there + inside_};
    schedule_event(there + inside_, EventKind::enter, packet);
}

}  // namespace topoloom
