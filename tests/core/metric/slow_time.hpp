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

/// As many rounds as there are messages between two ranks, each of them later by the longest way and a startup; then the
/// busiest link or node has to be passed. Or a sender starts all its messages, each round of them later by its own
/// longest way; then as much of what passes the busiest link or node is still on the way as one message is of those
/// with which a sender leaves its node, on average.
inline double slow_time(const topoloom::CommGraph& phase, const topoloom::Machine& machine,
                        std::span<const topoloom::Slot> slots, std::span<const double> background = {}) {
    using namespace topoloom;
    const NodeSpeeds& speeds = machine.speeds();
    double rounds = 0;
    double most_peers = 1;
    double leaving = 0;
    double leaving_senders = 0;
    double longest_way = 0;
    double longest_starting = 0;
    for (const Rank u : ids<Rank>(phase.rank_count())) {
        double starting = 0;
        double own_rounds = 0;
        double own_way = 0;
        double peers = 0;
        double own_leaving = 0;
        for (const Edge edge : phase.sends(u)) {
            if (edge.messages == 0) continue;
            ++peers;
            own_rounds = std::max(own_rounds, static_cast<double>(edge.messages));
            const Node from = machine.node(slots[u.value]);
            const Node to = machine.node(slots[edge.peer.value]);
            const Seconds startup = from == to ? speeds.memory_startup : speeds.startup;
            starting += static_cast<double>(edge.messages) * startup.value;
            if (from == to) continue;
            ++own_leaving;
            double way = speeds.latency.value;
            with_topology(machine, [&](const auto& network) {
                network.route(from, to,
                              [&](Link link, double share) { way += share * network.latency(link).value; });
            });
            own_way = std::max(own_way, way);
        }
        leaving += own_leaving;
        leaving_senders += own_leaving > 0 ? 1 : 0;
        rounds = std::max(rounds, own_rounds);
        most_peers = std::max(most_peers, peers);
        longest_way = std::max(longest_way, own_way);
        longest_starting = std::max(longest_starting, starting + own_rounds * own_way);
    }
    double busiest = std::ranges::max(slow_node_seconds(phase, machine, slots));
    for (const double seconds : slow_congestion(phase, machine, slots, background))
        busiest = std::max(busiest, seconds);
    const double one_startup = leaving > 0 ? speeds.startup.value : speeds.memory_startup.value;
    const double messages = leaving > 0 ? leaving / leaving_senders : most_peers;
    return std::max(rounds * (longest_way + one_startup) + busiest, longest_starting + busiest / messages);
}
