// SPDX-License-Identifier: BSD-3-Clause
// Branch and bound for the minimum congestion of few ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

struct ExactCongestion {
    std::vector<Position> position_of_rank;
    double value = 0;         // maximum bytes / bandwidth of a link, in seconds
    double lower_bound = 0;   // proven lower bound; equal to the value unless the search was interrupted
    std::uint64_t nodes = 0;  // partial placements visited
};

/// Depth-first branch and bound, starting from a given placement. Ranks are placed one by one, first those
/// that exchange the most bytes with ranks already placed. A branch is cut if the load of its busiest link,
/// or the average load including the remaining bytes, is no better than that of the best placement. `known`
/// is a proven lower bound; the search ends when it is reached. Fixed ranks stay where they start. One rank per
/// slot. For up to about ten ranks. Throws Error if routes depend on the load.
[[nodiscard]] ExactCongestion min_congestion(const BoundProblem& problem, std::span<const Position> start,
                                             std::span<const Rank> fixed, double known, Meter& meter);

}  // namespace topoloom::bound
