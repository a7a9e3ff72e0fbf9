// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/multilevel/refine.hpp"

#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/multilevel/multisection.hpp"
#include "topoloom/place/shared/evolution.hpp"
#include "topoloom/place/shared/fitting.hpp"
#include "topoloom/place/shared/slot_distances.hpp"

namespace topoloom::multilevel {

Placement refine_shared(const Problem& problem, Placement start, Meter& meter, const RefineOptions& options) {
    const Allocation& allocation = problem.allocation();
    const shared::SlotDistances distances(allocation);
    const std::vector<Position> points = distances.points();
    const partition::WeightedGraph graph = shared::make_shared_graph(problem);
    const shared::EvolutionOptions evolution{.family = 1 + options.family,
                                             .cycles = options.cycles,
                                             .cuts = options.cuts,
                                             .max_idle_moves = options.patience};
    const auto make = [&](const partition::WeightedGraph&, std::size_t number, std::uint64_t seed,
                          std::uint64_t& work) {
        if (number == 0) return shared::list_parts_of_ranks(allocation, start.slots());
        const Budget unlimited;
        Meter own(unlimited);
        const Placement other = place_multisection_without_repair(problem.with_seed(seed), own, {});
        work += own.work_done();
        return shared::list_parts_of_ranks(allocation, other.slots());
    };
    const auto best =
        shared::Evolution<shared::SlotDistances>(distances, graph, points, problem.capacity().capacities(),
                                                 evolution, problem.seed(), problem.threads())
            .run(make, meter);
    if (best.parts.empty()) shared::fail_to_fit();
    return shared::make_shared_placement(allocation, best.parts);
}

MapperEntry refine_mapper() {
    return mapper_entry<refine_shared>(
        {.name = "refine",
         .summary = "moves ranks between shared slots on many scales; for more ranks than slots",
         .source = "Walshaw 2004; Sanders, Schulz 2012",
         .needs = "graph, distances, shared slots",
         .occupancy = Occupancy::shared});
}

}  // namespace topoloom::multilevel
