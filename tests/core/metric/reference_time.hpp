// SPDX-License-Identifier: BSD-3-Clause
// References for link and node loads and for phase times, computed message by message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "metric/random_changes.hpp"
#include "topoloom/metric/loads/total_and_busiest_times.hpp"

/// Bytes / bandwidth of every link, in seconds.
inline std::vector<double> reference_congestion(const topoloom::CommGraph& phase,
                                                const topoloom::Machine& machine,
                                                std::span<const topoloom::Slot> slots,
                                                std::span<const double> background = {}) {
    using namespace topoloom;
    std::vector<double> seconds = reference_loads(phase, machine, slots);
    with_topology(machine, [&](const auto& network) {
        for (const Link link : ids<Link>(seconds.size())) {
            if (!background.empty()) seconds[link.value] += background[link.value];
            seconds[link.value] /= network.bandwidth(link).value;
        }
    });
    return seconds;
}

/// Bytes divided by bandwidth, in seconds. First the bytes that each node sends through its port, then those
/// that it receives, reads from memory and writes to memory. Only memory includes intra-node messages.
inline std::vector<double> reference_node_seconds(const topoloom::CommGraph& phase,
                                                  const topoloom::Machine& machine,
                                                  std::span<const topoloom::Slot> slots) {
    using namespace topoloom;
    const std::size_t nodes = machine.node_count();
    std::vector<double> seconds(4 * nodes);
    for (const Rank u : ids<Rank>(phase.rank_count())) {
        for (const Edge edge : phase.sends(u)) {
            const Node from = machine.node(slots[u.value]);
            const Node to = machine.node(slots[edge.peer.value]);
            const auto bytes = static_cast<double>(edge.bytes.value);
            seconds[2 * nodes + from.value] += bytes;
            seconds[3 * nodes + to.value] += bytes;
            if (from == to) continue;
            seconds[from.value] += bytes;
            seconds[nodes + to.value] += bytes;
        }
    }
    for (std::size_t i = 0; i < seconds.size(); ++i)
        seconds[i] /= i < 2 * nodes ? machine.speeds().port.value : machine.speeds().memory.value;
    return seconds;
}

/// The time if all pairs send for `rounds` rounds, and the times of its parts as in PhaseTime.
inline topoloom::TotalAndBusiestTimes reference_rounds(const topoloom::CommGraph& phase, double rounds,
                                                       const topoloom::Machine& machine,
                                                       std::span<const topoloom::Slot> slots,
                                                       std::span<const double> background) {
    using namespace topoloom;
    const NodeSpeeds& speeds = machine.speeds();
    struct SenderTimes {
        double leaving = 0, inside = 0, way = 0, transfer = 0;
        [[nodiscard]] double late(const NodeSpeeds& by) const {
            return leaving * by.startup.value + inside * by.memory_startup.value + way;
        }
    };
    std::vector<SenderTimes> senders;
    for (const Rank u : ids<Rank>(phase.rank_count())) {
        SenderTimes sender;
        for (const Edge edge : phase.sends(u)) {
            if (edge.messages == 0) continue;
            const Node from = machine.node(slots[u.value]);
            const Node to = machine.node(slots[edge.peer.value]);
            const auto bytes = static_cast<double>(edge.bytes.value);
            sender.transfer = std::max(sender.transfer, bytes / speeds.memory.value);
            (from == to ? sender.inside : sender.leaving) += 1;
            if (from == to) continue;
            sender.transfer = std::max(sender.transfer, bytes / speeds.port.value);
            double way = speeds.latency.value;
            with_topology(machine, [&](const auto& network) {
                network.route(from, to, [&](Link link, double share) {
                    way += share * network.latency(link).value;
                    sender.transfer =
                        std::max(sender.transfer, share * bytes / network.bandwidth(link).value);
                });
            });
            sender.way = std::max(sender.way, way);
        }
        if (sender.leaving + sender.inside > 0) senders.push_back(sender);
    }
    double leaving = 0, leavers = 0, inside = 0, inside_of_leavers = 0, way = 0, late = 0, arrived = 0;
    for (const SenderTimes& sender : senders) {
        leaving += sender.leaving;
        inside += sender.inside;
        if (sender.leaving > 0) {
            ++leavers;
            inside_of_leavers += sender.inside;
        }
        way = std::max(way, sender.way);
        late = std::max(late, rounds * sender.late(speeds));
        arrived = std::max(arrived, rounds * sender.late(speeds) + sender.transfer);
    }
    const std::vector<double> of_nodes = reference_node_seconds(phase, machine, slots);
    const auto memory_at = of_nodes.begin() + static_cast<std::ptrdiff_t>(of_nodes.size() / 2);
    const double memory = *std::max_element(memory_at, of_nodes.end());
    double network = *std::max_element(of_nodes.begin(), memory_at);
    for (const double seconds : reference_congestion(phase, machine, slots, background))
        network = std::max(network, seconds);
    const double startup = (leaving > 0 ? speeds.startup : speeds.memory_startup).value;
    const double first = rounds * (way + startup);
    const double first_inside = inside > 0 ? rounds * speeds.memory_startup.value : first;
    const double wait = leaving > 0 ? rounds * inside_of_leavers * speeds.memory_startup.value / leaving : 0;
    double last =
        senders.empty() ? memory : memory * static_cast<double>(senders.size()) / (leaving + inside);
    if (leaving > 0) last = std::max(last, network * leavers / leaving);
    return {std::max({first + wait + network, first_inside + memory, arrived, late + last}),
            std::max(network, memory)};
}

/// The time added up round by round. Each round has the pairs that still have messages.
inline topoloom::TotalAndBusiestTimes reference_time_parts(const topoloom::CommGraph& phase,
                                                           const topoloom::Machine& machine,
                                                           std::span<const topoloom::Slot> slots,
                                                           std::span<const double> background = {}) {
    using namespace topoloom;
    std::set<std::int64_t> counts;
    const auto rounds_of = [](const Edge& edge) { return std::max<std::int64_t>(1, edge.messages); };
    for (const Rank u : ids<Rank>(phase.rank_count())) {
        for (const Edge edge : phase.sends(u)) counts.insert(rounds_of(edge));
    }
    if (counts.empty()) counts.insert(1);
    TotalAndBusiestTimes parts;
    std::int64_t first = 0;
    for (const std::int64_t last : counts) {
        std::vector<Rank> sources, targets;
        std::vector<Bytes> bytes;
        std::vector<std::int64_t> messages;
        for (const Rank u : ids<Rank>(phase.rank_count())) {
            for (const Edge edge : phase.sends(u)) {
                const std::int64_t all = rounds_of(edge);
                if (all < last) continue;
                sources.push_back(u);
                targets.push_back(edge.peer);
                bytes.push_back(Bytes{edge.bytes.value * last / all - edge.bytes.value * first / all});
                messages.push_back(edge.messages > 0 ? last - first : 0);
            }
        }
        const CommGraph graph = CommGraph::from_edges(phase.rank_count(), sources, targets, bytes, messages);
        const auto rounds = static_cast<double>(last - first);
        std::vector<double> others(background.begin(), background.end());
        for (double& load : others) load *= rounds / static_cast<double>(*counts.rbegin());
        const bool is_silent = graph.total_messages() == 0;
        const TotalAndBusiestTimes more =
            reference_rounds(graph, is_silent ? 0 : rounds, machine, slots, others);
        parts.all += more.all;
        parts.busy += more.busy;
        first = last;
    }
    return parts;
}

inline double reference_time(const topoloom::CommGraph& phase, const topoloom::Machine& machine,
                             std::span<const topoloom::Slot> slots, std::span<const double> background = {}) {
    return reference_time_parts(phase, machine, slots, background).all;
}
