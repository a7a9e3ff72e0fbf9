// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on congestion: maximum bytes / bandwidth of a link.
#pragma once

#include <string>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"
#include "topoloom/bound/routes/route_survey.hpp"

namespace topoloom {

/// `value` in seconds: bytes / bandwidth. `by` names the bound: "message", the bytes of one pair of ranks
/// on the links of the best route; "injection", the bytes of one rank that leave its router; "cut", the
/// bytes that leave a part of the allocation; "routes", the same on the links of the machine's routes;
/// "average", all bytes times hops, divided by the bandwidth of all links on routes between the nodes;
/// "prices", the dual bound; or "background", the traffic of other jobs. `where` names the ranks or nodes.
struct CongestionBound {
    double value = 0;
    std::string by = "nothing";
    std::string where;
};

/// A number of seconds of which every link load is a multiple: the greatest common divisor of all bytes,
/// divided by the bandwidth of all links. 0 if bandwidths differ or messages may be split.
[[nodiscard]] double load_unit(const BoundProblem& problem, const bound::RouteSurvey& survey);

/// Returns 0 for unknown routes, and unless every node has capacity for exactly one rank.
[[nodiscard]] CongestionBound message_bound(const BoundProblem& problem, const bound::RouteSurvey& survey);

/// Computed from the bytes that leave the router of one rank, for any routing.
[[nodiscard]] CongestionBound injection_bound(const BoundProblem& problem);

/// Evaluates many candidate cuts: consecutive nodes (subtrees, groups, rows), slabs across each grid axis,
/// and regions grown from a node, each with its switches. On large machines, only a sample of these. Spends
/// the budget on more candidates; 0 if it has no room for the graph of the network.
[[nodiscard]] CongestionBound cut_bound(const BoundProblem& problem, Meter& meter);

/// The same for slabs of the allocation, and for parts whose nodes are near each other, such as fragments.
/// Only the links on routes between the part and the other nodes can carry the bytes that leave the part or
/// enter it. Returns 0 for unknown routes.
[[nodiscard]] CongestionBound route_cut_bound(const BoundProblem& problem, const bound::RouteSurvey& survey,
                                              Meter& meter);

/// The average load over the surveyed links, which follows from a bound on hop-bytes; that bound spends the
/// budget.
[[nodiscard]] CongestionBound average_load_bound(const BoundProblem& problem,
                                                 const bound::RouteSurvey& survey, Meter& meter);

/// A dual bound. For link prices that sum to 1, the load of the busiest link is at least the price-weighted
/// mean of bytes / bandwidth over all links. This mean is bounded by dual ascent, like hop-bytes; prices are
/// raised on links that good placements load. Uses the machine's routes. 0 for adaptive routing, and beyond a
/// few hundred nodes.
[[nodiscard]] CongestionBound price_bound(const BoundProblem& problem, Meter& meter);

/// The largest load of a link by BoundProblem::background(); 0 without one.
[[nodiscard]] CongestionBound background_load(const BoundProblem& problem);

/// Bounds that add the background to the loads of the problem's messages. `message`: on some route, the
/// largest message meets the background of each link. `average`: if the bytes of average_load_bound() fill
/// the links with the least background first, all up to one level, that level is a bound.
[[nodiscard]] CongestionBound background_bound(const BoundProblem& problem, const bound::RouteSurvey& survey,
                                               const CongestionBound& message,
                                               const CongestionBound& average);

/// The largest of these bounds. If all links have the same bandwidth and no route is split, those without
/// background are rounded up to a multiple of the greatest common divisor of all bytes.
[[nodiscard]] CongestionBound congestion_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom
