// SPDX-License-Identifier: BSD-3-Clause
// The slow twins of loads on links and nodes, and of the time of a phase: from their definitions, message by message.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "metric/random_changes.hpp"

/// Bytes / bandwidth of every link.
inline std::vector<double> slow_congestion(const topoloom::CommGraph& phase, const topoloom::Machine& machine,
                                           std::span<const topoloom::Slot> slots,
                                           std::span<const double> background = {}) {
    using namespace topoloom;
    std::vector<double> seconds = slow_loads(phase, machine, slots);
    with_topology(machine, [&](const auto& network) {
        for (const Link link : ids<Link>(seconds.size())) {
            if (!background.empty()) seconds[link.value] += background[link.value];
            seconds[link.value] /= network.bandwidth(link).value;
        }
    });
    return seconds;
}

/// What every node sends through its port, then what it receives, then what messages read from its memory, then what
/// they write there, those inside the node among them: by bandwidth.
inline std::vector<double> slow_node_seconds(const topoloom::CommGraph& phase,
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

/// As many rounds as there are messages between two ranks, each of them later by the longest way and a startup. The
/// busiest link or node then has to be passed; unless a sender has not even started all its messages by then.
inline double slow_time(const topoloom::CommGraph& phase, const topoloom::Machine& machine,
                        std::span<const topoloom::Slot> slots, std::span<const double> background = {}) {
    using namespace topoloom;
    const NodeSpeeds& speeds = machine.speeds();
    std::int64_t most_messages = 0;
    bool any_leaves = false;
    double longest_way = 0;
    double longest_starting = 0;
    for (const Rank u : ids<Rank>(phase.rank_count())) {
        double starting = 0;
        for (const Edge edge : phase.sends(u)) {
            if (edge.messages == 0) continue;
            most_messages = std::max(most_messages, edge.messages);
            const Node from = machine.node(slots[u.value]);
            const Node to = machine.node(slots[edge.peer.value]);
            const Seconds startup = from == to ? speeds.memory_startup : speeds.startup;
            starting += static_cast<double>(edge.messages) * startup.value;
            if (from == to) continue;
            any_leaves = true;
            double way = speeds.latency.value;
            with_topology(machine, [&](const auto& network) {
                network.route(from, to,
                              [&](Link link, double share) { way += share * network.latency(link).value; });
            });
            longest_way = std::max(longest_way, way);
        }
        longest_starting = std::max(longest_starting, starting);
    }
    double busiest = std::ranges::max(slow_node_seconds(phase, machine, slots));
    for (const double seconds : slow_congestion(phase, machine, slots, background))
        busiest = std::max(busiest, seconds);
    const auto rounds = static_cast<double>(most_messages);
    const double one_startup = any_leaves ? speeds.startup.value : speeds.memory_startup.value;
    return rounds * longest_way + std::max(longest_starting, rounds * one_startup + busiest);
}
