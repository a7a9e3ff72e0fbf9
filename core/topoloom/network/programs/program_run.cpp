// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/program_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// What a packet says of its message: the receiver's place on its node, the step, and whether it is the last packet.
struct Label {
    static constexpr unsigned place_bits = 20;
    static constexpr std::uint64_t most_places = std::uint64_t{1} << place_bits;

    std::uint64_t step;
    std::uint32_t place;
    bool is_last;

    [[nodiscard]] std::uint64_t packed() const {
        return (step << place_bits | place) << 1 | (is_last ? 1 : 0);
    }
    static Label of(std::uint64_t packed) {
        return {packed >> (place_bits + 1), static_cast<std::uint32_t>(packed >> 1 & (most_places - 1)),
                (packed & 1) != 0};
    }
};

}  // namespace

void require_packets(const PacketFormat& format) {
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
      by_node_(ranks_.size()),
      place_(ranks_.size()),
      node_of_(node_of_rank.begin(), node_of_rank.end()) {
    require_packets(format);
    if (node_of_.size() != ranks_.size())
        fail("the program has ", ranks_.size(), " ranks, but nodes are given for ", node_of_.size());
    for (const Node node : node_of_) {
        if (node.value >= nodes) fail("a rank is on node ", node.value, "; the machine has ", nodes);
        ++nodes_[node.value].end;
    }
    std::uint32_t sum = 0;
    for (NodeState& node : nodes_) {
        node.first = sum;
        sum += std::exchange(node.end, sum);
    }
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        NodeState& node = nodes_[node_of_[rank].value];
        place_[rank] = node.end - node.first;
        if (place_[rank] >= Label::most_places)
            fail("more than ", Label::most_places, " ranks are on a node");
        by_node_[node.end++] = rank;
    }
    for (NodeState& node : nodes_) {
        for (std::uint32_t i = node.first; i < node.end; ++i) {
            const std::uint32_t rank = by_node_[i];
            if (program.step_count() == 0) continue;
            ranks_[rank].step = 0;
            if (begin_step(node, rank)) node.advancing.push_back(rank);
        }
        begin_steps(node);
        find_next(node);
    }
}

/// Goes on with all ranks of a node that have done their steps. What one does may end the step of another.
void ProgramRun::begin_steps(NodeState& node) {
    while (!node.advancing.empty()) {
        const std::uint32_t rank = node.advancing.back();
        node.advancing.pop_back();
        RankState& state = ranks_[rank];
        while (state.step < program_.step_count() && is_over(state)) {
            ++node.steps_done;
            if (++state.step == program_.step_count()) break;
            if (!begin_step(node, rank)) break;
        }
    }
}

/// Begins `state.step` and returns whether it is over already.
bool ProgramRun::begin_step(NodeState& node, std::uint32_t rank) {
    RankState& state = ranks_[rank];
    node.receives.clear();
    program_.list_receives(Rank{rank}, state.step, node.receives);
    for (const ProgramMessage& message : node.receives)
        state.expected += node_of_[message.peer.value] == node_of_[rank] ? 1 : format_.packets(message.bytes);
    state.busy = std::max(state.busy, state.since);
    const auto early = std::ranges::find(state.early, state.step, &Early::step);
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
    return is_over(state);
}

/// Goes on with the messages of a rank that have to go over the network.
void ProgramRun::open_messages(NodeState& node, std::uint32_t rank) {
    RankState& state = ranks_[rank];
    for (; state.opened < state.sends.size() && state.open.size() < most_open; ++state.opened) {
        const ProgramMessage message = state.sends[state.opened];
        if (node_of_[message.peer.value] == node_of_[rank]) {
            deliver_inside(node, rank, message);
            continue;
        }
        state.busy += costs_.send;
        state.open.push_back({message.peer, state.busy, static_cast<std::uint64_t>(message.bytes.value)});
    }
}

void ProgramRun::deliver_inside(NodeState& node, std::uint32_t from, const ProgramMessage& message) {
    RankState& sender = ranks_[from];
    sender.busy += costs_.memory;
    std::uint64_t there = sender.busy;
    if (costs_.memory_rate > 0) {
        const double cycles = static_cast<double>(message.bytes.value) / costs_.memory_rate;
        node.memory_free = std::max(node.memory_free, there) + static_cast<std::uint64_t>(std::ceil(cycles));
        there = node.memory_free;
    }
    sender.since = std::max(sender.since, sender.busy);
    arrive(node, message.peer.value, sender.step, 1, false, there);
}

/// Packets of a message have come to a rank, which may not be that far yet.
void ProgramRun::arrive(NodeState& node, std::uint32_t rank, std::uint64_t step, std::uint64_t packets,
                        bool is_last, std::uint64_t cycle) {
    RankState& state = ranks_[rank];
    if (is_last) {
        state.busy = std::max(state.busy, cycle) + costs_.receive;
        cycle = state.busy + costs_.latency;
    }
    if (step != state.step) {
        const auto early = std::ranges::find(state.early, step, &Early::step);
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
    if (is_over(state)) node.advancing.push_back(rank);
}

std::uint32_t ProgramRun::open_at(const RankState& rank, std::uint64_t cycle) {
    const auto count = static_cast<std::uint32_t>(rank.open.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t at = (rank.turn + i) % count;
        if (rank.open[at].ready <= cycle) return at;
    }
    return no_index;
}

Order ProgramRun::take(Node from, std::uint64_t cycle) {
    NodeState& node = nodes_[from.value];
    const std::uint32_t count = node.end - node.first;
    std::uint32_t rank = no_index, at = no_index;
    for (std::uint32_t i = 0; i < count && at == no_index; ++i) {
        const std::uint32_t place = (node.turn + i) % count;
        rank = by_node_[node.first + place];
        at = open_at(ranks_[rank], cycle);
        if (at != no_index) node.turn = (place + 1) % count;
    }
    RankState& state = ranks_[rank];
    OpenMessage& message = state.open[at];
    const std::uint32_t flits = format_.flits(message.left);
    message.left -= std::min<std::uint64_t>(message.left, format_.payload);
    const bool is_last = message.left == 0;
    const Label label{state.step, place_[message.to.value], is_last};
    const Order order{node_of_[message.to.value], flits, label.packed(), cycle};
    state.turn = at + 1;
    if (is_last) {
        state.since = std::max(state.since, cycle + flits);
        state.open.erase(state.open.begin() + at);
        state.turn = at;
        open_messages(node, rank);
        if (is_over(state)) node.advancing.push_back(rank);
        begin_steps(node);
    }
    find_next(node);
    return order;
}

void ProgramRun::receive(Node at, const Order& order, std::uint64_t cycle) {
    NodeState& node = nodes_[at.value];
    const Label label = Label::of(order.message);
    arrive(node, by_node_[node.first + label.place], label.step, 1, label.is_last, cycle);
    begin_steps(node);
    find_next(node);
}

void ProgramRun::find_next(NodeState& node) const {
    node.next = never;
    for (std::uint32_t i = node.first; i < node.end; ++i)
        for (const OpenMessage& message : ranks_[by_node_[i]].open)
            node.next = std::min(node.next, message.ready);
}

bool ProgramRun::is_done() const { return steps_done() == steps(); }

std::uint64_t ProgramRun::steps_done() const {
    return std::accumulate(nodes_.begin(), nodes_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const NodeState& node) { return sum + node.steps_done; });
}

std::uint64_t ProgramRun::end() const {
    return ranks_.empty() ? 0 : std::ranges::max(ranks_, {}, &RankState::since).since;
}

std::string ProgramRun::first_waiting() const {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        const RankState& state = ranks_[rank];
        if (state.step >= program_.step_count()) continue;
        std::string what = "rank " + std::to_string(rank) + " waits in step " + std::to_string(state.step);
        if (!state.open.empty())
            return what + " to send to rank " + std::to_string(state.open.front().to.value);
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
