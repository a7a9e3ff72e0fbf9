// SPDX-License-Identifier: BSD-3-Clause
// Ragged allocations as schedulers leave them: disconnected boxes, planes and lines of a bigger machine.
#pragma once

#include <cstdint>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// `node_count` nodes in `fragments` pieces of random shape and place (Sudheer 2012, fig. 1.1: pieces, lines and
/// planes long in the last axis), in ascending node order, which is a launcher's default. Pieces keep a gap between
/// them while the machine has room for that. The same seed gives the same allocation on every computer.
/// Throws Error when the machine is too small or there are fewer nodes than fragments.
[[nodiscard]] Allocation fragmented_allocation(const Machine& machine, std::size_t node_count,
                                               std::size_t fragments, std::uint64_t seed);

}  // namespace topoloom
