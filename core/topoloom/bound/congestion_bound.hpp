// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on congestion: the largest bytes / bandwidth of a link.
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

/// For one rank per node, on the machine's routes. 0 otherwise, for adaptive routing, and for too many routes.
[[nodiscard]] CongestionBound message_bound(const BoundProblem& problem);

/// From the bytes that leave the router of one rank, for any routing.
[[nodiscard]] CongestionBound injection_bound(const BoundProblem& problem);

/// Over many candidate cuts: consecutive nodes (subtrees, groups, rows), slabs across each grid axis, and regions
/// grown from a node; each with its switches. Samples large machines.
[[nodiscard]] CongestionBound cut_bound(const BoundProblem& problem);

/// Average load over all links; spends the budget on a bound on hop-bytes.
[[nodiscard]] CongestionBound average_load_bound(const BoundProblem& problem, Meter& meter);

/// A dual bound. For link prices that sum to 1, the busiest link is at least as busy as the price-weighted sum of
/// bytes / bandwidth over all links. This sum is bounded like hop-bytes, by dual ascent; prices rise on links that
/// good placements load. Uses the machine's routes. 0 for adaptive routing, and beyond a few hundred nodes.
[[nodiscard]] CongestionBound price_bound(const BoundProblem& problem, Meter& meter);

/// The largest of these bounds.
[[nodiscard]] CongestionBound congestion_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom
