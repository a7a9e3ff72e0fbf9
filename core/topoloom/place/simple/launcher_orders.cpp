// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/simple/launcher_orders.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/shared/fitting.hpp"

namespace topoloom::simple {

namespace {

/// Puts fixed ranks on their slots, and the other ranks, in the given order, on the other slots of the list.
Placement place_on_slots_in_order(const Problem& problem, std::span<const Rank> ranks,
                                  std::span<const Slot> slots) {
    const FixedRanks& fixed = problem.fixed();
    std::vector<char> is_taken(fixed.empty() ? 0 : problem.machine().slot_count(), 0);
    std::vector<Slot> slot_of_rank(ranks.size());
    for (const Rank u : fixed.ranks()) {
        slot_of_rank[u.value] = fixed.slot(u);
        is_taken[fixed.slot(u).value] = 1;
    }
    auto next = slots.begin();
    for (const Rank u : ranks) {
        if (fixed.contains(u)) continue;
        while (!is_taken.empty() && is_taken[next->value] != 0) ++next;
        slot_of_rank[u.value] = *next++;
    }
    return {problem.allocation(), std::move(slot_of_rank)};
}

/// Fills the slots in order with the ranks in order, each slot to the same fraction of its capacity.
/// Left-over ranks go to the first slot with enough spare capacity.
Placement fill_shared_slots_in_order(const Problem& problem, std::span<const Rank> ranks,
                                     std::span<const Position> positions) {
    const auto mass = problem.capacity().masses();
    const std::vector<std::int64_t> all_spare = problem.spare_capacities();
    std::vector<std::int64_t> spare;  // spare capacity, in the order of `positions`
    for (const Position position : positions) spare.push_back(all_spare[position.value]);
    auto all_mass = static_cast<double>(std::accumulate(mass.begin(), mass.end(), std::int64_t{0}));
    for (const Rank u : problem.fixed().ranks()) all_mass -= static_cast<double>(mass[u.value]);
    const auto all_capacity =
        static_cast<double>(std::accumulate(spare.begin(), spare.end(), std::int64_t{0}));
    std::vector<std::size_t> index(mass.size());  // by rank: index into `positions`
    std::vector<Rank> left_over;
    std::size_t at = 0;
    auto passed = static_cast<double>(spare[0]);  // capacity of all slots up to index `at`
    double placed = 0;
    for (const Rank u : ranks) {
        if (problem.fixed().contains(u)) continue;
        placed += static_cast<double>(mass[u.value]);
        while (at + 1 < spare.size() && placed * all_capacity > passed * all_mass * (1 + 1e-12))
            passed += static_cast<double>(spare[++at]);
        if (spare[at] >= mass[u.value]) {
            spare[at] -= mass[u.value];
            index[u.value] = at;
        } else {
            left_over.push_back(u);
        }
    }
    std::ranges::stable_sort(left_over, [&](auto a, auto b) { return mass[a.value] > mass[b.value]; });
    for (const Rank u : left_over) {
        const auto fits = std::ranges::find_if(spare, [&](std::int64_t r) { return r >= mass[u.value]; });
        if (fits == spare.end()) {
            fail("rank ", u.value, " of load ", problem.graph().load(u),
                 " no longer fits on any slot; allow more imbalance or larger capacities");
        }
        *fits -= mass[u.value];
        index[u.value] = static_cast<std::size_t>(fits - spare.begin());
    }
    std::vector<Slot> slots;
    for (const std::size_t i : index) slots.push_back(problem.allocation().slots()[positions[i].value]);
    for (const Rank u : problem.fixed().ranks()) slots[u.value] = problem.fixed().slot(u);
    return {problem.allocation(), std::move(slots), SlotUse::shared};
}

/// Distributes the ranks round-robin to the slots, within their capacities.
Placement fill_shared_slots_round_robin(const Problem& problem, std::span<const Rank> ranks) {
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) slots[ranks[i].value] = all[i % all.size()];
    for (const Rank u : problem.fixed().ranks()) slots[u.value] = problem.fixed().slot(u);
    return shared::fit_or_throw(problem, {problem.allocation(), std::move(slots), SlotUse::shared});
}

Placement distribute_to_nodes(const Problem& problem, bool fold) {
    const Allocation& allocation = problem.allocation();
    std::vector<std::vector<Slot>> of_node(allocation.nodes().size());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i) {
        of_node[allocation.node_of_slot()[i]].push_back(allocation.slots()[i]);
    }
    std::vector<Slot> slots;
    for (std::size_t round = 0; slots.size() < allocation.slot_count(); ++round) {
        for (const auto& node : of_node) {
            if (round < node.size()) slots.push_back(node[round]);
        }
        if (fold) std::reverse(of_node.begin(), of_node.end());
    }
    return place_on_slots_in_order(problem, id_list<Rank>(problem.rank_count()), slots);
}

}  // namespace

Placement place_block(const Problem& problem, Meter&) {
    return place_in_order(problem, id_list<Rank>(problem.rank_count()),
                          id_list<Position>(problem.allocation().slot_count()));
}

Placement place_round_robin(const Problem& problem, Meter&) {
    if (problem.capacity().one_rank_per_slot()) return distribute_to_nodes(problem, false);
    return fill_shared_slots_round_robin(problem, id_list<Rank>(problem.rank_count()));
}

Placement place_folded(const Problem& problem, Meter&) { return distribute_to_nodes(problem, true); }

Placement place_random(const Problem& problem, Meter&) {
    if (!problem.capacity().one_rank_per_slot()) {
        std::vector<Rank> ranks = id_list<Rank>(problem.rank_count());
        Rng(problem.seed()).shuffle(std::span<Rank>(ranks));
        return fill_shared_slots_round_robin(problem, ranks);
    }
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(all.begin(), all.end());
    Rng(problem.seed()).shuffle(std::span<Slot>(slots));
    return place_on_slots_in_order(problem, id_list<Rank>(problem.rank_count()), slots);
}

Placement place_in_order(const Problem& problem, std::span<const Rank> ranks,
                         std::span<const Position> positions) {
    if (!problem.capacity().one_rank_per_slot()) return fill_shared_slots_in_order(problem, ranks, positions);
    std::vector<Slot> slots;
    slots.reserve(positions.size());
    for (const Position position : positions) slots.push_back(problem.allocation().slots()[position.value]);
    return place_on_slots_in_order(problem, ranks, slots);
}

MapperEntry block_mapper() {
    return mapper_entry<place_block>({.name = "block",
                                      .summary = "rank i on slot i: what launchers do by default",
                                      .needs = "nothing",
                                      .occupancy = Occupancy::both});
}

MapperEntry round_robin_mapper() {
    return mapper_entry<place_round_robin>(
        {.name = "round-robin",
         .summary =
             "rank i on node i mod n: ranks dealt to the nodes like cards; shared slots: on slot i mod n",
         .needs = "nodes",
         .occupancy = Occupancy::both});
}

MapperEntry folded_mapper() {
    return mapper_entry<place_folded>({.name = "folded",
                                       .summary = "like round-robin, but every other round runs backwards",
                                       .source = "Karlsson 2012, ch. 4",
                                       .needs = "nodes",
                                       .occupancy = Occupancy::alone});
}

MapperEntry random_mapper() {
    return mapper_entry<place_random>({.name = "random",
                                       .summary = "a random permutation of the slots",
                                       .needs = "seed",
                                       .occupancy = Occupancy::both});
}

}  // namespace topoloom::simple
