// SPDX-License-Identifier: BSD-3-Clause
// A lower bound on the predicted time (PhaseTime): each of its parts at its minimum.
#pragma once

#include <span>
#include <string>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"
#include "topoloom/bound/congestion_bound.hpp"

namespace topoloom {

/// `value` in seconds. `by` is the part that needs the most of them: "network", the startups of a round, the nearest
/// route to enough nodes, and what the busiest link or NIC carries at least; "memory", the same for what nodes
/// read and write; "sender", what one rank takes to start all its messages and see the last arrive; or "nothing".
/// `where` names the rank, or what proves the load.
struct TimeBound {
    double value = 0;
    std::string by = "nothing";
    std::string where;
};

/// Over the phases that the problem's graph is the sum of; none: it is one. `congestion` is a bound for that sum. The
/// machine must give bandwidths. If there are several phases, the budget goes to bounds on the congestion of each.
/// Routes of large allocations, of more than 2 * 10^7 links in all, count as if they took no time.
/// O(nodes^2 * (hops + log nodes) + edges * log degree) and what congestion_bound() takes.
[[nodiscard]] TimeBound time_bound(const BoundProblem& problem, std::span<const CommGraph* const> phases,
                                   const CongestionBound& congestion, Meter& meter);

}  // namespace topoloom
