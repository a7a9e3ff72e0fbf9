// SPDX-License-Identifier: BSD-3-Clause
// Injection and reception at nodes, and their statistics.
#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/network/input_queued/input_queued_network.hpp"

namespace topoloom {

void InputQueuedNetwork::serve_nodes(Worker& worker) {
    std::uint8_t* const credits = returning_.at(worker.now);
    for (const std::uint32_t line : worker.entry_lines) take_credit(line, credits[line]);
    Flit* const arrived = moving_.at(worker.now);
    std::uint8_t* const coming = arrivals_.at(worker.now) + fabric_.router_count();
    for (const std::uint32_t line : worker.exit_lines)
        if (std::exchange(coming[line - fabric_.input_count()], 0) != 0)
            receive(worker, std::exchange(arrived[line], Flit{}));
    for (const Node node : worker.shard.nodes) {
        if (due_[node.value] > worker.now) continue;
        send(worker, node);
        update_due_cycle(node);
    }
}

bool InputQueuedNetwork::begin_packet(Worker& worker, Node node) {
    Sender& sender = senders_[node.value];
    // The path determines the entry channel, so choose the path before checking for space.
    if (sender.packet == no_index) {
        const PacketRequest order = workload_.take(node, worker.now);
        sender.next = workload_.next(node);
        if (order.flits == 0) return false;
        sender.packet =
            packets_.make(worker.number, order,
                          sender.path.find(paths_, node, order.to, sender.ways, worker.path, queued_));
        if (paths_.next_hops() != nullptr) packets_[sender.packet].mode = PacketPool::RouteMode::adaptive;
        const Hop& entry = packets_.hop(sender.packet);
        sender.arrival_line = arrival_line_[entry.channel.value];
        sender.credit_line = credit_line_[entry.channel.value];
        sender.entry_router = fabric_.channel(entry.channel).to;
        sender.open = chosen_ != 0 ? vc_range(0, vcs_) : classed_.allowed_vcs(entry, 0);
        if (!queues_of_.empty()) sender.open &= queues_after_next_hop(sender.packet);
    }
    const VcMask takeable = select_vcs_with_credits(sender.credit_line, sender.open);
    if (takeable == 0) return false;
    const VcMask later = takeable & ~vc_range(0, sender.vc + 1U);
    sender.vc = static_cast<std::uint8_t>(std::countr_zero(later != 0 ? later : takeable));
    sender.left = packets_[sender.packet].order.flits;
    return true;
}

void InputQueuedNetwork::send(Worker& worker, Node node) {
    Sender& sender = senders_[node.value];
    if (sender.left == 0 && !begin_packet(worker, node)) return;
    std::uint32_t& credits = credits_[std::size_t{sender.credit_line} * vcs_ + sender.vc];
    if (credits == 0 || is_busy(sender.arrival_line, worker.now)) return;
    --credits;
    ++worker.sent;
    ++sender.flits;
    const bool is_head = sender.left == packets_[sender.packet].order.flits;
    const bool is_tail = --sender.left == 0;
    occupy_channel(sender.arrival_line, worker.now);
    moving_.put(sender.arrival_line, worker.now + delay_[sender.arrival_line],
                Flit(sender.packet, sender.vc, is_head, is_tail));
    mark_arrival(sender.entry_router, worker.now + delay_[sender.arrival_line]);
    if (!is_tail) return;
    workload_.on_sent(node, packets_[sender.packet].order, channel_free_at(sender.arrival_line, worker.now));
    sender.next = workload_.next(node);
    sender.packet = no_index;
}

void InputQueuedNetwork::receive(Worker& worker, Flit flit) {
    ReceivedPackets& received = worker.received;
    ++received.flits;
    ++worker.taken;
    if (!flit.is_tail()) return;
    const PacketRequest& order = packets_[flit.packet()].order;
    const std::uint64_t latency = worker.now - order.made;
    ++received.packets;
    received.latency += latency;
    ++received.by_latency[std::min<std::size_t>(latency, ReceivedPackets::max_cycles - 1)];
    workload_.on_received(order.to, order, worker.now);
    senders_[order.to.value].next = workload_.next(order.to);
    update_due_cycle(order.to);
    packets_.free_packet(worker.number, flit.packet());
}

std::vector<std::uint64_t> InputQueuedNetwork::lags() const {
    std::vector<std::uint64_t> lags;
    lags.reserve(senders_.size());
    for (const Sender& sender : senders_) {
        const bool waits = sender.packet != no_index && sender.left == 0;
        const std::uint64_t made = waits ? packets_[sender.packet].order.made : sender.next;
        lags.push_back(now_ - std::min(made, now_));
    }
    return lags;
}

ReceivedPackets InputQueuedNetwork::take_received() {
    ReceivedPackets sum;
    sum.by_latency.assign(ReceivedPackets::max_cycles, 0);
    for (Worker& worker : workers_) {
        ReceivedPackets& part = worker.received;
        sum.packets += std::exchange(part.packets, 0);
        sum.flits += std::exchange(part.flits, 0);
        sum.latency += std::exchange(part.latency, 0);
        for (std::size_t i = 0; i < ReceivedPackets::max_cycles; ++i)
            sum.by_latency[i] += std::exchange(part.by_latency[i], 0);
    }
    for (Sender& sender : senders_) sum.sent.push_back(std::exchange(sender.flits, 0));
    return sum;
}

BufferUsage InputQueuedNetwork::usage() const {
    BufferUsage usage{.room = std::uint64_t{queues_.size()} * options_.buffer, .outputs = free_.size()};
    for (const std::uint32_t stored : stored_) usage.stored += stored;
    return usage;
}

std::uint64_t InputQueuedNetwork::flit_hops() const {
    std::uint64_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.flit_hops;
    return sum;
}

std::vector<std::uint64_t> InputQueuedNetwork::carried() const {
    std::vector<std::uint64_t> flits;
    flits.reserve(arrival_line_.size());
    for (const std::uint32_t line : arrival_line_) flits.push_back(carried_[line]);
    return flits;
}

void InputQueuedNetwork::check() const {
    std::vector<std::uint32_t> seen(credits_);
    std::uint64_t sent = 0, flits = 0;
    for (const Worker& worker : workers_) {
        sent += worker.sent;
        flits += worker.taken;
    }
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count())) {
        const Channel& channel = fabric_.channel(id);
        std::uint32_t* const at = seen.data() + std::size_t{credit_line_[id.value]} * vcs_;
        moving_.for_each(arrival_line_[id.value], [&](Flit flit) {
            ++at[flit.vc()];
            ++flits;
        });
        if (channel.is_exit()) continue;
        returning_.for_each(credit_line_[id.value], [&](std::uint8_t credit) { ++at[credit - 1U]; });
        for (std::uint32_t vc = 0; vc < vcs_; ++vc) {
            const std::uint32_t stored = queues_[std::size_t{channel.input} * vcs_ + vc].count;
            at[vc] += stored;
            flits += stored;
            if (at[vc] != options_.buffer)
                fail("virtual channel ", vc, " of ", fabric_.name(id), " has ", at[vc],
                     " flits and credits, but the buffer has ", options_.buffer);
        }
    }
    if (flits != sent)
        fail("nodes have sent ", sent, " flits, but ", flits, " were received or are in flight");
}

}  // namespace topoloom
