// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/links/local_opt.hpp"

#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/links/congestion_descent.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/keep_better.hpp"

namespace topoloom::links {

Placement improve_by_local_opt(const Problem& problem, Placement start, Meter& meter) {
    if (!charge_link_loads(meter, problem)) return start;
    const PhasedObjective objective = problem.link_objective();
    return keep_better(problem, std::move(start), [&](const Placement& from) {
        const std::unique_ptr<LoadTracker> loads =
            make_search_tracker(problem.machine(), objective, from.slots());
        loads->fix(problem.fixed().ranks());
        CongestionDescent(*loads, problem.allocation()).run(meter);
        return Placement(problem.allocation(), loads->slots());
    });
}

MapperEntry local_opt_mapper() {
    return mapper_entry<improve_by_local_opt>(
        {.name = "local-opt",
         .summary = "exchanges that take traffic off the busiest links, until none helps",
         .source = "Sudheer 2012, ch. 7",
         .needs = "graph, routes",
         .occupancy = Occupancy::alone,
         .minimizes = SearchObjective::links});
}

}  // namespace topoloom::links
