// SPDX-License-Identifier: BSD-3-Clause
// A lower bound on the predicted time (PhaseTime), from lower bounds on each of its parts.
#pragma once

#include <span>
#include <string>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"
#include "topoloom/bound/congestion_bound.hpp"

namespace topoloom {

/// `value` in seconds. `by` names the largest part: "network", the startups of a round, the nearest route to
/// enough nodes, and the minimum load of the busiest link or NIC; "memory", the same for memory traffic of
/// nodes; "sender", the time until one rank has started all its messages and the last of these has arrived;
/// or "nothing". `where` names the rank or the proof of the load.
struct TimeBound {
    double value = 0;
    std::string by = "nothing";
    std::string where;
};

/// Computes the bound for a run of all phases. The phases must add up to the problem's graph; without
/// phases, the graph is a single phase. `congestion` is a bound for the sum, with the background of the
/// problem, which counts in every phase. The machine must specify
/// bandwidths. With several phases, the budget is spent on a congestion bound for each. If the routes of an
/// allocation have more than 2 * 10^7 links in total, or than the budget allows, their latency counts as 0.
/// O(nodes^2 * (hops + log nodes) + edges * log degree) plus congestion_bound().
[[nodiscard]] TimeBound time_bound(const BoundProblem& problem, std::span<const CommGraph* const> phases,
                                   const CongestionBound& congestion, Meter& meter);

}  // namespace topoloom
