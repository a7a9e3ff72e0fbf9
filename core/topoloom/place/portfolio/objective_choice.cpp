// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/objective_choice.hpp"

#include <cmath>
#include <utility>

#include "topoloom/metric/loads/objective_loads.hpp"

namespace topoloom {

namespace {

/// If busy links and nodes take less than this share of the time, startups and latencies dominate, whatever
/// the loads.
constexpr double min_busy_share = 0.05;

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
    if (share < min_busy_share)
        return {ObjectiveKind::hop_bytes, "messages are short: startups and latencies take " +
                                              format_percent(1 - share) + " of the time"};
    return {ObjectiveKind::time,
            "links, network cards and memory take " + format_percent(share) + " of the time"};
}

}  // namespace topoloom
