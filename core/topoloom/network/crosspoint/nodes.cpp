// SPDX-License-Identifier: BSD-3-Clause
// Injection and reception at nodes, and their statistics.
#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/network/crosspoint/crosspoint_network.hpp"

namespace topoloom {

std::uint32_t CrosspointNetwork::make_packet(const PacketRequest& order, std::span<const Hop> path) {
    const std::uint32_t packet = packets_.make(0, order, path);
    if (packet >= stored_.size()) stored_.resize(packet + 1);
    ++made_;
    return packet;
}

void CrosspointNetwork::end_packet(std::uint32_t packet) {
    ++ended_;
    packets_.free_packet(0, packet);
}

void CrosspointNetwork::begin_packet(std::uint32_t node) {
    Sender& sender = senders_[node];
    const PacketRequest order = workload_.take(Node{node}, now_);
    sender.next = workload_.next(Node{node});
    if (order.flits == 0) return;
    if (!is_group(order.to)) {
        const std::span<const Hop> path =
            sender.path.find(paths_, Node{node}, order.to, sender.ways, path_, queued_);
        sender.packet = make_packet(order, path);
        sender.channel = path.front().channel;
        sender.window = no_index;
        sender.place = {};
        sender.open =
            paths_.next_hops() != nullptr ? vc_range(0, vcs_) : classed_.allowed_vcs(path.front(), 0);
        return;
    }
    const std::uint32_t group = order.to.value - static_cast<std::uint32_t>(fabric_.node_count());
    if (group >= trees_.group_count()) fail("a packet goes to group ", group, ", which does not exist");
    const TreeEntry& entry = trees_.entry(group, Node{node});
    const TreeVertex& vertex = trees_.vertices()[entry.vertex];
    if (trees_.collective(group) == SwitchCollective::reduce && vertex.up == entry.branch)
        fail("node ", node, " sends to group ", group, ", but is its root, which only receives");
    sender.packet = make_packet(order, {});
    sender.channel = entry.channel;
    sender.window = entry.window;
    sender.place = {entry.vertex, entry.branch};
    sender.open = vc_range(0, vcs_);
}

/// Wakes the node when the workload creates its next packet, but not before the next cycle.
void CrosspointNetwork::wake_sender_for_next(std::uint32_t node) {
    Sender& sender = senders_[node];
    if (sender.next <= now_ + 1) return schedule_event(now_ + 1, EventKind::send, node);
    if (sender.next < sender.woken) later_.emplace(sender.woken = sender.next, node);
}

void CrosspointNetwork::send_from(std::uint32_t node) {
    Sender& sender = senders_[node];
    if (sender.packet == no_index) {
        if (sender.next <= now_) begin_packet(node);
        if (sender.packet == no_index) return wake_sender_for_next(node);
    }
    std::uint64_t& taken_until = taken_until_[sender.channel.value];
    if (is_busy(taken_until)) {
        const std::uint64_t free = taken_until / ChannelTimes::cycle;
        if (std::exchange(sender.free, free) != free) schedule_event(free, EventKind::send, node);
        return;
    }
    const std::uint32_t own = sender.window;
    const std::uint32_t window = own == no_index     ? vc_with_most_credits(sender.channel, sender.open)
                                 : credits_[own] > 0 ? own
                                                     : no_index;
    if (window == no_index) return;
    const std::uint32_t flits = packets_[sender.packet].order.flits;
    const std::uint64_t gone = now_ + reserve_time(taken_until, flits, period_[sender.channel.value]);
    workload_.on_sent(Node{node}, packets_[sender.packet].order,
                      (taken_until + ChannelTimes::cycle - 1) / ChannelTimes::cycle);
    sender.next = workload_.next(Node{node});
    transmit(std::exchange(sender.packet, no_index), {}, sender.place, sender.channel, window, gone);
    sender.flits += flits;
    wake_sender_for_next(node);
}

void CrosspointNetwork::receive(std::uint32_t packet, std::uint32_t node) {
    const PacketRequest order = packets_[packet].order;
    const std::uint64_t latency = now_ - order.made;
    ++received_.packets;
    received_.flits += order.flits;
    received_.latency += latency;
    ++received_.by_latency[std::min<std::size_t>(latency, ReceivedPackets::max_cycles - 1)];
    end_packet(packet);
    workload_.on_received(Node{node}, order, now_);
    senders_[node].next = workload_.next(Node{node});
    wake_sender(node);
}

std::vector<std::uint64_t> CrosspointNetwork::lags() const {
    std::vector<std::uint64_t> lags;
    for (const Sender& sender : senders_) {
        const std::uint64_t made =
            sender.packet != no_index ? packets_[sender.packet].order.made : sender.next;
        lags.push_back(now_ - std::min(made, now_));
    }
    return lags;
}

ReceivedPackets CrosspointNetwork::take_received() {
    ReceivedPackets all = std::exchange(received_, ReceivedPackets{});
    received_.by_latency.assign(ReceivedPackets::max_cycles, 0);
    for (Sender& sender : senders_) all.sent.push_back(std::exchange(sender.flits, 0));
    return all;
}

BufferUsage CrosspointNetwork::usage() const {
    return {.stored = flits_stored_, .room = flits_room_, .outputs = fabric_.output_count()};
}

void CrosspointNetwork::check() const {
    std::vector<bool> is_there(stored_.size());
    for (const Queue& queue : queues_)
        for (std::uint32_t copy = queue.first; copy != no_index; copy = copies_[copy].next)
            is_there[copies_[copy].packet] = true;
    std::vector<std::uint32_t> seen(credits_);
    std::uint64_t alive = 0;
    calendar_.for_each([&](const Event& event) {
        if (event.what == EventKind::enter || event.what == EventKind::combined) is_there[event.whose] = true;
        if (event.what == EventKind::credit) ++seen[event.whose];
        if (event.what == EventKind::receive) ++alive;
    });
    for (std::uint32_t packet = 0; packet < stored_.size(); ++packet) {
        if (!is_there[packet]) continue;
        ++alive;
        if (stored_[packet].window != no_index) ++seen[stored_[packet].window];
    }
    for (const Sender& sender : senders_) alive += sender.packet != no_index ? 1 : 0;
    const auto wrong = std::ranges::find_if(seen, [&](std::uint32_t count) { return count != room_; });
    if (wrong != seen.end())
        fail("a buffer behind ", fabric_.name(channel_of_[static_cast<std::size_t>(wrong - seen.begin())]),
             " has ", *wrong, " packets and credits, but the capacity is ", room_);
    if (made_ != ended_ + alive)
        fail(made_, " packets have been made, but ", ended_, " have ended and ", alive, " are in flight");
}

}  // namespace topoloom
