// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/shared/fitting.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/place/shared/shared_search.hpp"
#include "topoloom/place/shared/slot_distances.hpp"

namespace topoloom::shared {

partition::WeightedGraph make_shared_graph(const Problem& problem) {
    partition::WeightedGraph graph =
        partition::make_weighted_graph(problem.symmetric(), problem.capacity().masses());
    if (problem.fixed().empty()) return graph;
    graph.fixed.assign(graph.size(), 0);
    for (const Rank u : problem.fixed().ranks()) graph.fixed[u.value] = 1;
    return graph;
}

bool fits(const Problem& problem, const Placement& placement) {
    const Capacity& capacity = problem.capacity();
    const std::vector<Part> parts = list_parts_of_ranks(problem.allocation(), placement.slots());
    std::vector<std::int64_t> spare_capacity(capacity.capacities().begin(), capacity.capacities().end());
    for (std::size_t u = 0; u < parts.size(); ++u) spare_capacity[parts[u].value] -= capacity.masses()[u];
    return std::ranges::all_of(spare_capacity, [](std::int64_t l) { return l >= 0; });
}

std::optional<Placement> try_to_fit(const Problem& problem, Placement placement) {
    if (fits(problem, placement)) return placement;
    const Capacity& capacity = problem.capacity();
    const Allocation& allocation = problem.allocation();
    const SlotDistances distances(allocation);
    const std::vector<Position> points = distances.points();
    const partition::WeightedGraph graph = make_shared_graph(problem);
    SharedSearch<SlotDistances> search(distances, graph, points, capacity.capacities(),
                                       list_parts_of_ranks(allocation, placement.slots()));
    search.repair();
    if (!search.fits()) return std::nullopt;
    return make_shared_placement(allocation, search.parts());
}

Placement fit_or_throw(const Problem& problem, Placement placement) {
    if (auto found = try_to_fit(problem, std::move(placement))) return *std::move(found);
    fail_to_fit();
}

void fail_to_fit() { fail("the ranks' loads do not fit into the slots' capacities; allow more imbalance"); }

std::vector<Part> list_parts_of_ranks(const Allocation& allocation, std::span<const Slot> slot_of_rank) {
    std::vector<Part> part_of_slot(allocation.machine().slot_count());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i)
        part_of_slot[allocation.slots()[i].value] = Part{i};
    std::vector<Part> parts;
    parts.reserve(slot_of_rank.size());
    for (const Slot slot : slot_of_rank) parts.push_back(part_of_slot[slot.value]);
    return parts;
}

Placement make_shared_placement(const Allocation& allocation, std::span<const Part> part_of_rank) {
    std::vector<Slot> slots;
    slots.reserve(part_of_rank.size());
    for (const Part part : part_of_rank) slots.push_back(allocation.slots()[part.value]);
    return {allocation, std::move(slots), SlotUse::shared};
}

}  // namespace topoloom::shared
