// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/program_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Label of a packet: index of the receiver on its node, step, and whether the packet is the last of its
/// message.
struct PacketLabel {
    static constexpr unsigned place_bits = 20;
    static constexpr std::uint64_t most_places = std::uint64_t{1} << place_bits;

    std::uint64_t step;
    std::uint32_t place;
    bool is_last;

    [[nodiscard]] std::uint64_t packed() const {
        return (step << place_bits | place) << 1 | (is_last ? 1 : 0);
    }
    static PacketLabel of(std::uint64_t packed) {
        return {packed >> (place_bits + 1), static_cast<std::uint32_t>(packed >> 1 & (most_places - 1)),
                (packed & 1) != 0};
    }
};

}  // namespace

void require_packet_format(const PacketFormat& format) {
    if (format.flit == 0) fail("a flit must have a byte or more");
    if (format.payload == 0) fail("a packet must carry a byte or more of a message");
    const std::uint64_t bytes = std::uint64_t{format.payload} + format.header;
    if (bytes > 1U << 30) fail("a packet of ", bytes, " bytes is larger than 1 GiB");
}

ProgramRun::ProgramRun(const Program& program, std::span<const Node> node_of_rank, std::size_t nodes,
                       const PacketFormat& format, const MessageCycles& costs)
    : program_(program),
      format_(format),
      costs_(costs),
      ranks_(program.rank_count()),
      nodes_(nodes),
      nics_(ranks_.size(), node_of_rank, nodes) {
    require_packet_format(format);
    for (const Node at : ids<Node>(nodes)) {
        NodeState& node = nodes_[at.value];
        const std::span<const std::uint32_t> ranks = nics_.ranks_of(at);
        if (ranks.size() > PacketLabel::most_places)
            fail("more than ", PacketLabel::most_places, " ranks are on a node");
        for (const std::uint32_t rank : ranks) {
            if (program.step_count() == 0) continue;
            ranks_[rank].step = 0;
            if (begin_step(node, rank)) node.advancing.push_back(rank);
        }
        begin_steps(node);
        node.next = nics_.next_packet_cycle(at);
    }
}

/// Advances all ranks of a node that finished their steps. Beginning a step can complete the step of another
/// rank.
void ProgramRun::begin_steps(NodeState& node) {
    while (!node.advancing.empty()) {
        const std::uint32_t rank = node.advancing.back();
        node.advancing.pop_back();
        RankState& state = ranks_[rank];
        while (state.step < program_.step_count() && is_step_complete(rank)) {
            ++node.steps_done;
            if (++state.step == program_.step_count()) break;
            if (!begin_step(node, rank)) break;
        }
    }
}

/// Begins step `state.step` of a rank. Returns whether the step is already complete.
bool ProgramRun::begin_step(NodeState& node, std::uint32_t rank) {
    RankState& state = ranks_[rank];
    node.receives.clear();
    program_.list_receives(Rank{rank}, state.step, node.receives);
    for (const ProgramMessage& message : node.receives)
        state.expected +=
            nics_.are_on_same_node(rank, message.peer.value) ? 1 : format_.packet_count(message.bytes);
    state.busy = std::max(state.busy, state.since);
    const auto early = std::ranges::find(state.early, state.step, &EarlyPackets::step);
    if (early != state.early.end()) {
        state.expected -= early->packets;
        state.since = std::max(state.since, early->since);
        *early = state.early.back();
        state.early.pop_back();
    }
    state.sends.clear();
    state.opened = 0;
    program_.list_sends(Rank{rank}, state.step, state.sends);
    open_messages(node, rank);
    return is_step_complete(rank);
}

/// Opens further inter-node messages of a rank.
void ProgramRun::open_messages(NodeState& node, std::uint32_t rank) {
    RankState& state = ranks_[rank];
    for (; state.opened < state.sends.size() && nics_.can_open_message(rank); ++state.opened) {
        const ProgramMessage message = state.sends[state.opened];
        if (nics_.are_on_same_node(rank, message.peer.value)) {
            deliver_intra_node(node, rank, message);
            continue;
        }
        state.busy += costs_.send;
        nics_.open_message(rank,
                           {message.peer.value, state.busy, static_cast<std::uint64_t>(message.bytes.value)});
    }
}

void ProgramRun::deliver_intra_node(NodeState& node, std::uint32_t from, const ProgramMessage& message) {
    RankState& sender = ranks_[from];
    sender.busy += costs_.memory;
    std::uint64_t there = sender.busy;
    if (costs_.memory_rate > 0) {
        const double cycles = static_cast<double>(message.bytes.value) / costs_.memory_rate;
        node.memory_free = std::max(node.memory_free, there) + static_cast<std::uint64_t>(std::ceil(cycles));
        there = node.memory_free;
    }
    sender.since = std::max(sender.since, sender.busy);
    record_arrival(node, message.peer.value, sender.step, 1, false, there);
}

/// Records the arrival of packets at a rank, which may not have begun the step yet.
void ProgramRun::record_arrival(NodeState& node, std::uint32_t rank, std::uint64_t step,
                                std::uint64_t packets, bool is_last, std::uint64_t cycle) {
    RankState& state = ranks_[rank];
    if (is_last) {
        const std::uint64_t there = cycle + costs_.latency + costs_.receive;
        state.busy = std::max(state.busy, cycle) + costs_.receive;
        cycle = std::max(state.busy, there);
    }
    if (step != state.step) {
        const auto early = std::ranges::find(state.early, step, &EarlyPackets::step);
        if (early == state.early.end()) {
            state.early.push_back({step, packets, cycle});
        } else {
            early->packets += packets;
            early->since = std::max(early->since, cycle);
        }
        return;
    }
    state.since = std::max(state.since, cycle);
    state.expected -= packets;
    if (is_step_complete(rank)) node.advancing.push_back(rank);
}

PacketRequest ProgramRun::take(Node from, std::uint64_t cycle) {
    NodeState& node = nodes_[from.value];
    const NicQueues::Packet packet = nics_.take_packet(from, cycle, format_.payload);
    RankState& state = ranks_[packet.rank];
    const std::uint32_t flits = format_.flit_count(packet.left);
    const PacketLabel label{state.step, nics_.index_on_node(packet.message), packet.is_last};
    const PacketRequest order{nics_.node_of(packet.message), flits, label.packed(), cycle};
    if (packet.is_last) {
        state.is_leaving = true;
        node.leaving = packet.rank;
        open_messages(node, packet.rank);
    }
    node.next = nics_.next_packet_cycle(from);
    return order;
}

void ProgramRun::on_sent(Node from, const PacketRequest& /*order*/, std::uint64_t cycle) {
    NodeState& node = nodes_[from.value];
    if (node.leaving == no_index) return;
    const std::uint32_t rank = std::exchange(node.leaving, no_index);
    RankState& state = ranks_[rank];
    state.is_leaving = false;
    state.since = std::max(state.since, cycle);
    if (!is_step_complete(rank)) return;
    node.advancing.push_back(rank);
    begin_steps(node);
    node.next = nics_.next_packet_cycle(from);
}

void ProgramRun::on_received(Node at, const PacketRequest& order, std::uint64_t cycle) {
    NodeState& node = nodes_[at.value];
    const PacketLabel label = PacketLabel::of(order.message);
    record_arrival(node, nics_.ranks_of(at)[label.place], label.step, 1, label.is_last, cycle);
    begin_steps(node);
    node.next = nics_.next_packet_cycle(at);
}

bool ProgramRun::is_done() const { return steps_done() == steps(); }

std::uint64_t ProgramRun::steps_done() const {
    return std::accumulate(nodes_.begin(), nodes_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const NodeState& node) { return sum + node.steps_done; });
}

std::uint64_t ProgramRun::end() const {
    return ranks_.empty() ? 0 : std::ranges::max(ranks_, {}, &RankState::since).since;
}

std::string ProgramRun::describe_first_waiting() const {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        const RankState& state = ranks_[rank];
        if (state.step >= program_.step_count()) continue;
        std::string what = "rank " + std::to_string(rank) + " waits in step " + std::to_string(state.step);
        if (!nics_.open_messages(rank).empty())
            return what + " to send to rank " + std::to_string(nics_.open_messages(rank).front().number);
        std::vector<ProgramMessage> receives;
        program_.list_receives(Rank{rank}, state.step, receives);
        what += " for";
        for (const ProgramMessage& message : receives)
            what += " rank " + std::to_string(message.peer.value) + ",";
        what.pop_back();
        return what;
    }
    return "no rank waits";
}

}  // namespace topoloom
