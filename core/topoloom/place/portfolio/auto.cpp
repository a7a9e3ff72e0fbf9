// SPDX-License-Identifier: BSD-3-Clause
// The portfolio mapper `auto`: tries mappers that suit the problem and returns the best placement.
#include "topoloom/metric/objective.hpp"
#include "topoloom/place/links/congestion.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/portfolio/hop_bytes_search.hpp"
#include "topoloom/place/portfolio/link_search.hpp"
#include "topoloom/place/portfolio/shared_slot_search.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"

namespace topoloom::portfolio {

namespace {

struct AutoOptions {
    Effort effort = Effort::standard;
    void visit(auto& field) { field("effort", effort, effort_names, "how long to search"); }
};
/// Ensures that the result is not slower than block order. A placement with fewer hop-bytes or lower link
/// loads may be slower, for example if it overloads one node's NIC. In that case, searches for short times,
/// and returns the best by the objective among block order and the placements that are no slower.
Placement ensure_no_slower_than_block(const Problem& problem, Placement found, Meter& meter,
                                      const EffortLimits& limits) {
    if (!problem.machine().has_bandwidths() || problem.migration() != nullptr) return found;
    constexpr double rounding = 1 + 1e-9;
    constexpr double sure_gain = 0.03;
    Placement block = simple::place_block(problem, meter);
    const double of_block = problem.time(block.slots());
    const double most = of_block * rounding;
    const double of_found = problem.time(found.slots());
    // If messages are latency-bound, a gain within the model's error does not justify another order, but
    // fewer hop-bytes do.
    const double gain = of_block > 0 ? 1 - of_found / of_block : 0;
    const auto hop_bytes = [&](const Placement& p) {
        return problem.for_hop_bytes().key(p.slots()).hop_bytes;
    };
    const bool is_worth_it = gain >= sure_gain || hop_bytes(found) < hop_bytes(block);
    if (!is_worth_it && problem.link_objective().mix.is(ObjectiveKind::time) &&
        !problem.is_bandwidth_bound(block.slots()))
        return block;
    if (of_found <= most) return found;
    const PhasedObjective objective = problem.link_objective();
    const Problem for_time =
        problem.with_objective(objective_of(ObjectiveKind::time), objective.phases, objective.background);
    BestPlacement best(problem);
    best.offer(block);
    const auto offer = [&](Placement quicker) {
        if (problem.time(quicker.slots()) <= most) best.offer(std::move(quicker));
    };
    const std::uint64_t tenths = std::min<std::uint64_t>(limits.link_tenths, 10);
    const links::CongestionOptions annealing{
        .sweeps = choose_annealing_sweeps(problem, estimate_route_length(problem.allocation()), tenths)};
    for (const Placement& start : {found, block})
        offer(links::anneal_links(for_time, start, meter, annealing));
    // If the objective is time, `found` is already the result of this search.
    if (problem.rank_count() <= max_ranks_in_parallel && !objective.mix.is(ObjectiveKind::time))
        offer(minimize_link_objective(for_time, meter, limits));
    return best.placement();
}

/// Chooses constructors and improvers by the number of ranks, the structure and density of the graph, and the
/// effort. Returns the best placement by the problem's objective: never worse than block order or any mapper
/// that it tried. The standard effort takes under 1 s for 1,000 ranks and under 10 s for 100,000.
Placement place_auto(const Problem& problem, Meter& meter, const AutoOptions& options) {
    const EffortLimits& limits = limits_of(options.effort);
    if (!problem.capacity().one_rank_per_slot()) return minimize_on_shared_slots(problem, meter, limits);
    Placement found = problem.is_for_hop_bytes() ? minimize_hop_bytes(problem, meter, options.effort)
                                                 : minimize_link_objective(problem, meter, limits);
    return ensure_no_slower_than_block(problem, std::move(found), meter, limits);
}

}  // namespace

MapperEntry auto_mapper() {
    return mapper_entry<place_auto>({.name = "auto",
                                     .summary = "tries what suits the problem and keeps the best",
                                     .needs = "graph, distances",
                                     .occupancy = Occupancy::both,
                                     .minimizes = SearchObjective::objective});
}

}  // namespace topoloom::portfolio
