// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/refine.hpp"

#include "topoloom/base/error.hpp"
#include "topoloom/place/arrangement.hpp"
#include "topoloom/place/evolution.hpp"
#include "topoloom/place/multisection.hpp"

namespace topoloom {

namespace {

WeightedGraph weighted(const CommGraph& symmetric, std::span<const std::int64_t> mass) {
    WeightedGraph graph;
    graph.first.reserve(symmetric.rank_count() + 1);
    for (const Rank u : ids<Rank>(symmetric.rank_count())) {
        for (const Edge edge : symmetric.sends(u)) {
            if (edge.bytes.value == 0) continue;
            graph.peer.push_back(edge.peer.value);
            graph.weight.push_back(edge.bytes.value);
        }
        graph.first.push_back(static_cast<std::uint32_t>(graph.peer.size()));
    }
    graph.mass.assign(mass.begin(), mass.end());
    return graph;
}

}  // namespace

Placement refine_shared(const Problem& problem, Placement start, Meter& meter, const RefineOptions& options) {
    return with_space(problem.machine(), [&]<class Space>(const Space& space) {
        const Allocation& allocation = problem.allocation();
        const WeightedGraph graph = weighted(problem.symmetric(), problem.room().masses());
        const std::vector<typename Space::Point> points = slot_points(space, allocation);
        const EvolutionOptions evolution{1 + options.family, options.cycles, options.patience};
        const auto make = [&](std::size_t number, std::uint64_t& work) {
            if (number == 0) return positions_of(allocation, start.slots());
            const Budget unlimited;
            Meter own(unlimited);
            const Placement other = place_multisection(problem.with_seed(problem.seed() + 7919 * number), own,
                                                       {.starts = 4, .cycles = 1});
            work += own.done();
            return positions_of(allocation, other.slots());
        };
        const auto best = Evolution<Space>(space, graph, points, problem.room().capacities(), evolution,
                                           problem.seed(), problem.threads())
                              .run(make, meter);
        if (best.places.empty())
            fail("the ranks' loads do not fit into the slots' capacities; allow more imbalance");
        return placement_at(allocation, best.places, SlotUse::shared);
    });
}

}  // namespace topoloom
