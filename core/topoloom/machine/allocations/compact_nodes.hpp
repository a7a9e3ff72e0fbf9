// SPDX-License-Identifier: BSD-3-Clause
// Chooses nodes that are close together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Chooses `count` nodes of an allocation with a small sum of distances between them, in the order of the allocation. Not
/// proven optimal: the problem is NP-hard on graphs.
///
/// Starts from balls around the nodes whose nearest `count` nodes are closest (Krumke et al., Compact
/// location problems, TCS 181 (1997): at most twice the optimum for the best center). Repeatedly replaces the
/// chosen nodes by the nodes nearest to all of them. This never increases the sum if distances are of
/// negative type, as on tori, meshes and trees. Small sets of nodes also start from a greedy selection.
/// Finally exchanges single nodes. Computes at most about 2^24 distances to choose centers and 2^28 for the
/// rest. Depends on the seed only. Throws Error unless 1 <= count <= nodes of the allocation.
[[nodiscard]] std::vector<Node> compact_nodes(const Allocation& allocation, std::size_t count,
                                              std::uint64_t seed = 1);

}  // namespace topoloom
