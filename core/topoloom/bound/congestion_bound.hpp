// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on congestion, the most that any link has to carry for its bandwidth.
#pragma once

#include <string>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"

namespace topoloom {

/// `value` in seconds: bytes / bandwidth. `by` is what proves it: "message", the bytes of one pair of ranks on the links
/// of the best route there is; "injection", the bytes of one rank that leave its router; "cut", the bytes that leave a part of the allocation; "average", all bytes times hops over the bandwidth
/// of all links that routes between the nodes use; or "prices". `where` names the part.
struct CongestionBound {
    double value = 0;
    std::string by = "nothing";
    std::string where;
};

/// Where every node holds one rank, on its true routes. 0 elsewhere, where routes depend on the load, and where they are
/// too many to look at.
[[nodiscard]] CongestionBound message_bound(const BoundProblem& problem);

/// No link of any placement's busiest ones carries less, whatever the routes.
[[nodiscard]] CongestionBound injection_bound(const BoundProblem& problem);

/// Over parts of many kinds: nodes with consecutive numbers (subtrees, groups, rows), slabs across every axis of a grid,
/// and what grows from a node; each with the switches that belong to it. Large machines are sampled.
[[nodiscard]] CongestionBound cut_bound(const BoundProblem& problem);

/// Spends the budget on a bound on bytes times hops.
[[nodiscard]] CongestionBound average_load_bound(const BoundProblem& problem, Meter& meter);

/// With a share of 1 as the price of every link, no placement's busiest link is busier than what all bytes pay: prices
/// times bytes / bandwidth on the links that they cross. That is bounded as hop-bytes are, by dual ascent, at prices that
/// rise where good placements have their loads. On the true routes. 0 where routes depend on the load, and from a few
/// hundred nodes on.
[[nodiscard]] CongestionBound price_bound(const BoundProblem& problem, Meter& meter);

/// The best of these.
[[nodiscard]] CongestionBound congestion_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom
