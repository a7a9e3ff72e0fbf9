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
    double value = 0;         // the largest bytes / bandwidth of a link
    double lower_bound = 0;   // equal to the value unless the search was interrupted
    std::uint64_t nodes = 0;  // partial placements visited
};

/// Depth-first branch and bound from a given placement on: ranks one by one, those that exchange most with the ones
/// before first; a partial placement is left when its busiest link, or the average that bytes still to come lead to,
/// is no better than the best. `known` is a lower bound that is already proven; the search ends when it is met. One
/// rank per slot. For up to about ten ranks. Throws Error if routes depend on the load.
[[nodiscard]] ExactCongestion min_congestion(const BoundProblem& problem, std::span<const Position> start,
                                             double known, Meter& meter);

}  // namespace topoloom::bound
