// SPDX-License-Identifier: BSD-3-Clause
// A lower bound on hop-bytes, from distances that are sums of cuts.
#pragma once

#include <cstdint>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// If distances are at least the total weight of the cuts that separate two slots, then hop-bytes are at
/// least the sum over all cuts of weight times the bytes that must cross the cut. Evaluates two families of
/// cuts:
/// - The cuts of the network. On a line these are the links. On a ring of even length they are the pairs of
///   opposite links, on one of odd length the pairs of almost opposite links, with weight 1/2. On a tree, they
///   separate each subtree. All these give exactly the distance (Deza, Laurent, Geometry of Cuts and Metrics,
///   1997).
/// - The groups of slots in a node and, on trees, the subtrees, each with half the increase of distance from
///   the group to the next level. On other networks, the last level is the whole machine, as far as the
///   closest nodes.
/// O(slots) after BoundProblem::min_leaving_bytes().
[[nodiscard]] std::int64_t cut_sum_bound(const BoundProblem& problem);

}  // namespace topoloom::bound
