// SPDX-License-Identifier: BSD-3-Clause
// Nodes that lie close together: the most compact choice that is found among given ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// `count` nodes of an allocation with a small sum of network distances between them, in the allocation's order. A
/// choice that was found, not a proven optimum: which nodes these are is an NP-hard question on graphs.
///
/// Balls around the nodes that have `count` nodes nearest (Krumke et al., Compact location problems, TCS 181 (1997): with
/// the best center at most twice the optimum) are replaced by the nodes that are nearest to all of them together, again
/// and again. Where distances are of negative type, as on tori, meshes and trees, that cannot make them worse. Few nodes
/// are also gathered one by one. At last single nodes are exchanged. Work is bounded: some 2^24 distances for the choice
/// of centers and 2^28 for the rest. The same seed gives the same nodes on every computer.
/// Throws Error unless 1 <= count <= nodes of the allocation.
[[nodiscard]] std::vector<Node> compact_nodes(const Allocation& allocation, std::size_t count,
                                              std::uint64_t seed = 1);

}  // namespace topoloom
