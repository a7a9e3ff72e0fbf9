// SPDX-License-Identifier: BSD-3-Clause
// Boxes of the machine's grid that lie completely inside an allocation.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Finds at most `max_boxes` boxes of routers with exactly `count` nodes, all of them allocated. There is one
/// box per shape, and boxes are sorted by ascending sum of side lengths. Returns the nodes of each box.
/// Without coordinates the grid is a line, and a box is a run of nodes. The search is incomplete on machines
/// with very many axes.
[[nodiscard]] std::vector<std::vector<Node>> full_boxes(const Allocation& allocation, std::size_t count,
                                                        std::size_t max_boxes);

}  // namespace topoloom
