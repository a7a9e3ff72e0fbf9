// SPDX-License-Identifier: BSD-3-Clause
// The portfolio mapper `auto`: tries mappers that suit the problem and returns the best placement.
#include <algorithm>
#include <optional>

#include "topoloom/metric/objective.hpp"
#include "topoloom/place/links/congestion.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/portfolio/hop_bytes_search.hpp"
#include "topoloom/place/portfolio/link_search.hpp"
#include "topoloom/place/portfolio/shared_slot_search.hpp"
#include "topoloom/place/portfolio/small_search.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"

namespace topoloom::portfolio {

namespace {

struct AutoOptions {
    Effort effort = Effort::standard;
    void visit(auto& field) { field("effort", effort, effort_names, "how long to search"); }
};

/// Block order, and its predicted time if the guard of auto needs it.
struct GuardReference {
    Placement block;
    double seconds;
};

/// Whether block order is the better choice although `found` has less predicted time: the gain is within the
/// error of the model, and hop-bytes hardly fall. Bandwidth-bound placements are ordered as simulations order
/// them if their times differ by 1 % (docs/validation.md); times of short messages are less certain.
bool is_gain_negligible(const Problem& problem, const Placement& found, double seconds,
                        const GuardReference& reference) {
    constexpr double sure_gain = 0.01, sure_gain_if_latency_bound = 0.03;
    if (!problem.link_objective().mix.is(ObjectiveKind::time) || problem.is_for_hop_bytes()) return false;
    const Placement& block = reference.block;
    const double gain = reference.seconds > 0 ? 1 - seconds / reference.seconds : 0;
    if (gain >= sure_gain_if_latency_bound) return false;
    if (gain >= sure_gain && problem.is_bandwidth_bound(block.slots())) return false;
    const Problem near = problem.for_hop_bytes();
    return static_cast<double>(near.value(found.slots())) >=
           (1 - sure_gain) * static_cast<double>(near.value(block.slots()));
}

/// Returns the best placement by the objective that it finds among those with at most `most` seconds of
/// predicted time, starting from block order and `found`.
Placement search_within_time(const Problem& problem, const Placement& found, const Placement& block,
                             double most, Meter& meter, const EffortLimits& limits) {
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
    if (objective.mix.is(ObjectiveKind::time) && !problem.is_for_hop_bytes()) return best.placement();
    std::optional<SmallSearchResult> small = search_small_problem(for_time, meter, limits);
    if (small && small->is_optimal) {
        offer(std::move(small->placement));
    } else if (problem.rank_count() <= max_ranks_in_parallel) {
        offer(minimize_link_objective(for_time, meter, limits));
    }
    return best.placement();
}

/// Guards an objective that the user did not choose. A placement with fewer hop-bytes or lower link loads may
/// be slower than block order, for example if it overloads one node's NIC, and one with less predicted time may
/// be hardly faster. Reports a placement that it rejects to the meter.
Placement guard_time(const Problem& problem, Placement found, const GuardReference& reference, Meter& meter,
                     const EffortLimits& limits) {
    constexpr double rounding = 1 + 1e-9;
    if (found == reference.block) return found;
    const double seconds = problem.time(found.slots());
    const bool is_negligible = is_gain_negligible(problem, found, seconds, reference);
    const double most = reference.seconds * rounding;
    if (!is_negligible && seconds <= most) return found;
    Placement kept = is_negligible || meter.is_exhausted()
                         ? reference.block
                         : search_within_time(problem, found, reference.block, most, meter, limits);
    const double kept_seconds = kept == reference.block ? reference.seconds : problem.time(kept.slots());
    meter.set_rejection({.reason = is_negligible ? Rejection::Reason::no_gain : Rejection::Reason::slower,
                         .value = problem.objective_value(found.slots()),
                         .seconds = seconds,
                         .kept_value = problem.objective_value(kept.slots()),
                         .kept_seconds = kept_seconds});
    return kept;
}

/// The effort of the search after an unfinished exact one. With few ranks, that one has seen nearly all good
/// placements of objectives on links.
Effort choose_remaining_effort(const Problem& problem, Effort effort) {
    constexpr std::size_t few_ranks = 8;
    const bool is_explored = problem.rank_count() <= few_ranks && !problem.is_for_hop_bytes();
    return is_explored && effort == Effort::standard ? Effort::fast : effort;
}

bool needs_guard(const Problem& problem) {
    return problem.has_automatic_objective() && problem.machine().has_bandwidths() &&
           problem.migration() == nullptr && problem.capacity().one_rank_per_slot();
}

Placement minimize_within(const Problem& problem, Meter& meter, Effort effort) {
    const EffortLimits& limits = limits_of(effort);
    if (!problem.capacity().one_rank_per_slot()) return minimize_on_shared_slots(problem, meter, limits);
    return problem.is_for_hop_bytes() ? minimize_hop_bytes(problem, meter, effort)
                                      : minimize_link_objective(problem, meter, limits);
}

/// Leaves enough of a limited budget for the guard.
Placement minimize(const Problem& problem, Meter& meter, Effort effort, double share_of_guard) {
    if (!meter.is_limited()) return minimize_within(problem, meter, effort);
    Meter search_meter(meter.sub_budget(1 - share_of_guard));
    Placement found = minimize_within(problem, search_meter, effort);
    meter.spend(search_meter.work_done());
    return found;
}

/// Solves small problems exactly. For others, chooses constructors and improvers by the number of ranks, the
/// structure and density of the graph, and the effort, and returns the best placement by the problem's
/// objective: never worse than block order or any mapper that it tried. The standard effort takes under 1 s
/// for 1,000 ranks and under 10 s for 100,000.
Placement place_auto(const Problem& problem, Meter& meter, const AutoOptions& options) {
    const EffortLimits& limits = limits_of(options.effort);
    std::optional<GuardReference> reference;
    double share_of_guard = 0;
    if (needs_guard(problem)) {
        const double used_before = meter.used_share();
        reference = {simple::place_block(problem, meter), 0};
        if (!charge_link_loads(meter, problem)) return reference->block;
        reference->seconds = problem.time(reference->block.slots());
        if (!meter.poll()) return reference->block;
        // The guard evaluates the result as well.
        const double used = meter.used_share();
        share_of_guard = std::min(1.0, (used - used_before) / (1 - used));
    }
    std::optional<SmallSearchResult> small = search_small_problem(problem, meter, limits);
    BestPlacement best(problem);
    if (small) best.offer(std::move(small->placement));
    if (small && small->is_optimal) {
        meter.set_lower_bound(problem.objective_value(best.placement().slots()));
    } else {
        const Effort effort = small ? choose_remaining_effort(problem, options.effort) : options.effort;
        best.offer(minimize(problem, meter, effort, share_of_guard));
    }
    return reference ? guard_time(problem, best.placement(), *reference, meter, limits) : best.placement();
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
