// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/simple.hpp"

#include <algorithm>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/hilbert.hpp"

namespace topoloom {

namespace {

/// The first rank_count slots of a list.
Placement take_first(const Problem& problem, std::vector<Slot> slots) {
    slots.resize(problem.rank_count());
    return {problem.allocation(), std::move(slots)};
}

Placement deal_to_nodes(const Problem& problem, bool fold) {
    const Allocation& allocation = problem.allocation();
    std::vector<std::vector<Slot>> of_node(allocation.nodes().size());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i) {
        of_node[allocation.node_of_slot()[i]].push_back(allocation.slots()[i]);
    }
    std::vector<Slot> slots;
    for (std::size_t round = 0; slots.size() < problem.rank_count(); ++round) {
        for (const auto& node : of_node) {
            if (round < node.size()) slots.push_back(node[round]);
        }
        if (fold) std::reverse(of_node.begin(), of_node.end());
    }
    return take_first(problem, std::move(slots));
}

}  // namespace

Placement place_block(const Problem& problem, Meter&) {
    const auto slots = problem.allocation().slots();
    return take_first(problem, {slots.begin(), slots.end()});
}

Placement place_round_robin(const Problem& problem, Meter&) { return deal_to_nodes(problem, false); }

Placement place_folded(const Problem& problem, Meter&) { return deal_to_nodes(problem, true); }

Placement place_random(const Problem& problem, Meter&) {
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(all.begin(), all.end());
    Rng(problem.seed()).shuffle(std::span<Slot>(slots));
    return take_first(problem, std::move(slots));
}

Placement place_hilbert(const Problem& problem, Meter&) {
    std::vector<Slot> slots;
    for (const std::uint32_t position : hilbert_order(problem.allocation())) {
        slots.push_back(problem.allocation().slots()[position]);
    }
    return take_first(problem, std::move(slots));
}

}  // namespace topoloom
