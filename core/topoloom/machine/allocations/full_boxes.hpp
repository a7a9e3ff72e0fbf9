// SPDX-License-Identifier: BSD-3-Clause
// Boxes of the machine's grid that lie wholly inside an allocation.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Nodes of boxes of routers with exactly `count` nodes, all of which are allocated: one box of every shape that there
/// is, those with the shortest sides first, at most `most`. Where a network has no geometry the grid is a line, and a
/// box is a run of nodes. Ends early, with what it has, on machines with very many axes.
[[nodiscard]] std::vector<std::vector<Node>> full_boxes(const Allocation& allocation, std::size_t count,
                                                        std::size_t most);

}  // namespace topoloom
