// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/shared/fitting.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/place/shared/shared_search.hpp"
#include "topoloom/place/state/arrangement.hpp"

namespace topoloom {

bool fits(const Problem& problem, const Placement& placement) {
    const Capacity& capacity = problem.capacity();
    const std::vector<std::uint32_t> places = positions_of(problem.allocation(), placement.slots());
    std::vector<std::int64_t> left(capacity.capacities().begin(), capacity.capacities().end());
    for (std::size_t u = 0; u < places.size(); ++u) left[places[u]] -= capacity.masses()[u];
    return std::ranges::all_of(left, [](std::int64_t l) { return l >= 0; });
}

std::optional<Placement> try_to_fit(const Problem& problem, Placement placement) {
    if (fits(problem, placement)) return placement;
    const Capacity& capacity = problem.capacity();
    const Allocation& allocation = problem.allocation();
    const std::vector<std::uint32_t> places = positions_of(allocation, placement.slots());
    return with_space(problem.machine(), [&]<class Space>(const Space& space) -> std::optional<Placement> {
        const WeightedGraph graph = weighted(problem.symmetric(), capacity.masses());
        const std::vector<typename Space::Point> points = slot_points(space, allocation);
        SharedSearch<Space> search(space, graph, points, capacity.capacities(), places);
        search.repair();
        if (!search.fits()) return std::nullopt;
        return placement_at(allocation, search.places(), SlotUse::shared);
    });
}

Placement fitted(const Problem& problem, Placement placement) {
    if (auto found = try_to_fit(problem, std::move(placement))) return *std::move(found);
    fail_to_fit();
}

void fail_to_fit() { fail("the ranks' loads do not fit into the slots' capacities; allow more imbalance"); }

}  // namespace topoloom
