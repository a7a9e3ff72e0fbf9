// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/objective_choice.hpp"

#include <cmath>
#include <utility>

#include "topoloom/metric/loads/objective_loads.hpp"

namespace topoloom {

namespace {

std::string format_percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

}  // namespace

ObjectiveChoice choose_objective(const Problem& problem, std::vector<const CommGraph*> phases,
                                 std::span<const double> background) {
    if (!problem.capacity().one_rank_per_slot()) return {ObjectiveKind::hop_bytes, "ranks share slots"};
    if (problem.migration() != nullptr)
        return {ObjectiveKind::hop_bytes, "an earlier placement is weighed against"};
    if (!problem.machine().has_bandwidths())
        return {ObjectiveKind::hop_bytes, "the machine gives no bandwidths"};
    if (phases.empty()) phases.push_back(&problem.graph());
    const std::span<const Slot> block = problem.allocation().slots().first(problem.rank_count());
    const PhasedObjective objective{
        .mix = objective_of(ObjectiveKind::time), .phases = std::move(phases), .background = background};
    const TotalAndBusiestTimes parts = total_and_busiest_times(problem.machine(), objective, block);
    if (parts.all == 0) return {ObjectiveKind::hop_bytes, "nothing is sent"};
    const double share = parts.busy / parts.all;
    if (share < 0.5)
        return {ObjectiveKind::time, "latency-bound: startup and latency are " + format_percent(1 - share) +
                                         " of the predicted time"};
    return {ObjectiveKind::time, "bandwidth-bound: links, NICs and memory are " + format_percent(share) +
                                     " of the predicted time"};
}

}  // namespace topoloom
