// SPDX-License-Identifier: BSD-3-Clause
// Parts of an allocation whose nodes are near each other.
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
[[nodiscard]] std::vector<NodePart> list_near_parts(const Allocation& allocation);

}  // namespace topoloom::bound
