// SPDX-License-Identifier: BSD-3-Clause
// Fragmented allocations as schedulers make them: disconnected boxes, planes and lines of a larger machine.
#pragma once

#include <cstdint>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Allocates `node_count` nodes in `fragments` fragments of random shape and position (Sudheer 2012, fig.
/// 1.1: boxes, lines and planes that are longest along the last axis). Nodes are in ascending order, the
/// default of launchers. Fragments are not adjacent while the machine has enough nodes. Depends on the seed
/// only. Throws Error if the machine is too small or there are fewer nodes than fragments.
[[nodiscard]] Allocation fragmented_allocation(const Machine& machine, std::size_t node_count,
                                               std::size_t fragments, std::uint64_t seed);

}  // namespace topoloom
