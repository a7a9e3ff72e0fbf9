// SPDX-License-Identifier: BSD-3-Clause
// Clusters of nodes of an allocation, such as fragments and groups.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::bound {

/// Indices of nodes in Allocation::nodes(), ascending.
using NodePart = std::vector<std::uint32_t>;

/// The components of the allocation if nodes at most d hops apart are joined, for every d: fragments,
/// groups, and clusters of these. Only components with at least two nodes and at most all but one, widest
/// gaps first. O(nodes^2).
[[nodiscard]] std::vector<NodePart> list_node_clusters(const Allocation& allocation);

}  // namespace topoloom::bound
