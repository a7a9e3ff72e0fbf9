// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/operation_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr double max_cycles = 1e17;

OperationId receive_of(const PacketRequest& order) {
    return OperationId{static_cast<std::uint32_t>(order.message >> 1)};
}

std::uint64_t transfer_cycles(std::uint64_t bytes, double rate) {
    return rate > 0 ? static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) / rate)) : 0;
}

}  // namespace

OperationRun::OperationRun(const OperationGraph& graph, std::span<const Node> node_of_rank, std::size_t nodes,
                           const PacketFormat& format, const MessageCycles& costs, double nanosecond)
    : graph_(graph),
      format_(format),
      costs_(costs),
      nanosecond_(nanosecond),
      states_(graph.operations().size()),
      ranks_(graph.rank_count()),
      nodes_(nodes),
      nics_(ranks_.size(), node_of_rank, nodes) {
    require_packet_format(format);
    double work = 0;
    for (const OperationId id : ids<OperationId>(states_.size())) {
        const RankOperation& one = graph_[id];
        OperationState& state = states_[id.value];
        std::vector<Processor>& processors = ranks_[one.rank.value].processors;
        if (one.processor >= processors.size()) processors.resize(one.processor + 1U);
        if (one.kind == RankOperation::Kind::work) work += static_cast<double>(one.size) * nanosecond;
        if (work > max_cycles)
            fail(graph_.name(id), ": the total work up to this operation is too long to simulate");
        if (one.kind == RankOperation::Kind::receive)
            state.packets = nics_.are_on_same_node(one.rank.value, one.peer.value)
                                ? 1
                                : format_.packet_count(Bytes{static_cast<std::int64_t>(one.size)});
        state.waits = graph_.dependence_count(id);
        if (state.waits == 0) schedule(id, EventKind::can_begin, 0);
    }
}

std::uint64_t OperationRun::next(Node node) const {
    const auto& events = nodes_[node.value].events;
    return std::min(nics_.next_packet_cycle(node), events.empty() ? never : events.top().cycle);
}

PacketRequest OperationRun::take(Node from, std::uint64_t cycle) {
    process_until(nodes_[from.value], cycle);
    if (nics_.next_packet_cycle(from) > cycle) return {};
    const NicQueues::Packet packet = nics_.take_packet(from, cycle, format_.payload);
    const OperationId send{packet.message};
    const RankOperation& operation = graph_[send];
    if (packet.is_last) open_messages(packet.rank, cycle);
    return {nics_.node_of(operation.peer.value), format_.flit_count(packet.left),
            std::uint64_t{operation.match.value} << 1 | (packet.is_last ? 1 : 0), cycle};
}

void OperationRun::on_sent(Node /*from*/, const PacketRequest& order, std::uint64_t cycle) {
    const bool is_last = (order.message & 1) != 0;
    if (is_last) schedule(graph_[receive_of(order)].match, EventKind::ends, cycle);
}

void OperationRun::on_received(Node at, const PacketRequest& order, std::uint64_t cycle) {
    if (cycle > 0) process_until(nodes_[at.value], cycle - 1);
    record_arrival(receive_of(order), cycle);
}

OperationRun::Processor& OperationRun::processor_of(const RankOperation& operation) {
    return ranks_[operation.rank.value].processors[operation.processor];
}

void OperationRun::schedule(OperationId id, EventKind kind, std::uint64_t cycle) {
    node_of(graph_[id]).events.push({cycle, kind, id});
}

void OperationRun::process_until(NodeState& node, std::uint64_t until) {
    while (!node.events.empty() && node.events.top().cycle <= until) {
        const Event event = node.events.top();
        node.events.pop();
        process_event(event);
    }
}

void OperationRun::process_event(const Event& event) {
    const RankOperation& operation = graph_[event.operation];
    switch (event.kind) {
        case EventKind::starts:
            return release_dependents(event.operation, true, event.cycle);
        case EventKind::ends: {
            RankState& rank = ranks_[operation.rank.value];
            rank.since = std::max(rank.since, event.cycle);
            ++node_of(operation).done;
            return release_dependents(event.operation, false, event.cycle);
        }
        case EventKind::can_begin:
            return begin_operation(event.operation, event.cycle);
        case EventKind::can_go:
            return open_send(event.operation, event.cycle);
        case EventKind::arrives:
            return record_arrival(event.operation, event.cycle);
    }
}

/// Releases operations that waited for the start or end of an operation.
void OperationRun::release_dependents(OperationId id, bool on_start, std::uint64_t cycle) {
    for (const OperationGraph::Dependent& dependent : graph_.dependents(id))
        if (dependent.on_start == on_start && --states_[dependent.operation.value].waits == 0)
            schedule(dependent.operation, EventKind::can_begin, cycle);
}

void OperationRun::start_operation(OperationId id, std::uint64_t cycle) {
    if (std::ranges::any_of(graph_.dependents(id), &OperationGraph::Dependent::on_start))
        schedule(id, EventKind::starts, cycle);
}

void OperationRun::begin_operation(OperationId id, std::uint64_t cycle) {
    const RankOperation& operation = graph_[id];
    OperationState& state = states_[id.value];
    if (operation.kind == RankOperation::Kind::receive) {
        state.has_begun = true;
        start_operation(id, cycle);
        if (state.handled != never) schedule(id, EventKind::ends, std::max(cycle, state.handled));
        return;
    }
    Processor& processor = processor_of(operation);
    std::uint64_t& until = processor.busy;
    until = std::max(until, cycle);
    start_operation(id, until);
    if (operation.kind == RankOperation::Kind::work) {
        const double exact = static_cast<double>(operation.size) * nanosecond_ + processor.rest;
        processor.rest = exact - std::floor(exact);
        until += static_cast<std::uint64_t>(exact);
        return schedule(id, EventKind::ends, until);
    }
    if (nics_.are_on_same_node(operation.rank.value, operation.peer.value)) return send_intra_node(id, until);
    until += costs_.send;
    schedule(id, EventKind::can_go, until);
}

void OperationRun::send_intra_node(OperationId id, std::uint64_t cycle) {
    const RankOperation& operation = graph_[id];
    NodeState& node = node_of(operation);
    std::uint64_t there = processor_of(operation).busy = cycle + costs_.memory;
    schedule(id, EventKind::ends, there);
    if (costs_.memory_rate > 0) {
        node.memory_free =
            std::max(node.memory_free, there) + transfer_cycles(operation.size, costs_.memory_rate);
        there = node.memory_free;
    }
    schedule(operation.match, EventKind::arrives, there);
}

void OperationRun::open_send(OperationId send, std::uint64_t cycle) {
    const std::uint32_t rank = graph_[send].rank.value;
    ranks_[rank].sends.push_back(send);
    open_messages(rank, cycle);
}

void OperationRun::open_messages(std::uint32_t rank, std::uint64_t cycle) {
    RankState& state = ranks_[rank];
    for (; state.opened < state.sends.size() && nics_.can_open_message(rank); ++state.opened) {
        const OperationId send = state.sends[state.opened];
        nics_.open_message(rank, {send.value, cycle, graph_[send].size});
    }
    if (state.opened < state.sends.size()) return;
    state.sends.clear();
    state.opened = 0;
}

/// Records, for its receive operation, that a packet or a whole intra-node message has arrived.
void OperationRun::record_arrival(OperationId receive, std::uint64_t cycle) {
    const RankOperation& operation = graph_[receive];
    OperationState& state = states_[receive.value];
    if (--state.packets > 0) return;
    const bool is_inside = nics_.are_on_same_node(operation.rank.value, operation.peer.value);
    const std::uint64_t handling = is_inside ? 0 : costs_.receive;
    const std::uint64_t there = cycle + (is_inside ? 0 : costs_.latency) + handling;
    std::uint64_t& until = processor_of(operation).busy;
    until = std::max(until, cycle) + handling;
    state.handled = std::max(until, there);
    if (state.has_begun) schedule(receive, EventKind::ends, state.handled);
}

std::uint64_t OperationRun::steps_done() const {
    return std::accumulate(nodes_.begin(), nodes_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const NodeState& node) { return sum + node.done; });
}

std::uint64_t OperationRun::end() const {
    return ranks_.empty() ? 0 : std::ranges::max(ranks_, {}, &RankState::since).since;
}

std::string OperationRun::describe_first_waiting() const {
    for (const OperationId id : ids<OperationId>(states_.size())) {
        const OperationState& state = states_[id.value];
        if (graph_[id].kind == RankOperation::Kind::receive && state.has_begun && state.handled == never)
            return graph_.name(id) + " waits for its message";
    }
    return "no operation waits";
}

}  // namespace topoloom
