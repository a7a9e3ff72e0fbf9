// SPDX-License-Identifier: BSD-3-Clause
// Random collectives on the nodes of small machines.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/random_network.hpp"
#include "topoloom/schedule/collectives/registry.hpp"

namespace topoloom::testing {

inline std::vector<Node> ranks_in_order(std::size_t ranks, std::uint32_t per_node = 1) {
    std::vector<Node> nodes;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes.push_back(Node{rank / per_node});
    return nodes;
}

/// Latency of a packet without contention: for its injection, then from router to router.
inline std::uint64_t alone(std::uint64_t routers, std::uint64_t flits, const SwitchOptions& options = {}) {
    return options.channel + routers * (options.routing + 1 + options.crossing + options.channel) + flits - 1;
}

/// A random collective of up to three ranks per node, on random nodes.
struct RandomProgram {
    RandomProgram(const WiredMachine& wired, Rng& rng) {
        const std::uint32_t per_node = wired.machine.node_count() > 20 ? 1 : 1 + rng.below(3);
        const auto ranks = static_cast<std::uint32_t>(wired.machine.node_count()) * per_node - rng.below(2);
        std::vector<const ScheduleEntry*> entries;
        for (const ScheduleEntry& entry : schedules())
            if (entry.supports_ranks(ranks)) entries.push_back(&entry);
        const ScheduleEntry* entry = nullptr;
        do {
            entry = entries[rng.below(static_cast<std::uint32_t>(entries.size()))];
            call.operation =
                entry->operations[rng.below(static_cast<std::uint32_t>(entry->operations.size()))];
        } while (is_many_to_many(call.operation));
        call.ranks = ranks;
        call.bytes = Bytes{call.operation == Operation::barrier ? 0 : rng.below(500)};
        call.root = Rank{rng.below(ranks)};
        name = entry->name;
        nodes = ranks_in_order(ranks, per_node);
        for (std::uint32_t i = ranks - 1; i > 0; --i) std::swap(nodes[i], nodes[rng.below(i + 1)]);
    }

    Call call{};
    std::string name;  // all messages of the schedule
    std::vector<Node> nodes;
};

}  // namespace topoloom::testing
