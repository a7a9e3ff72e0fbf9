// SPDX-License-Identifier: BSD-3-Clause
// Space-filling curves through the coordinates of nodes, and through the cells of grids, in any number of dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// Each fills a box around all points and skips what is not there. Hilbert (Skilling, Programming the Hilbert curve,
/// AIP Conf. Proc. 707, 2004) and Peano (Math. Ann. 36, 1890) go from neighbor to neighbor on full cubes of a power of
/// two and of three, snake (boustrophedon: every other row backwards) on every full grid; Morton (IBM, 1966), which
/// interleaves the bits of the coordinates, jumps.
enum class Curve { hilbert, morton, peano, snake };

/// Positions 0 .. slot_count-1 of the allocation, sorted along the curve through the coordinates of their nodes; slots
/// of one node stay together. O(slots log slots).
[[nodiscard]] std::vector<std::uint32_t> curve_order(Curve curve, const Allocation& allocation);

/// The cells of a grid, numbered row-major, in the order in which the curve meets them.
[[nodiscard]] std::vector<std::uint32_t> curve_order(Curve curve, std::span<const std::uint32_t> extents);

}  // namespace topoloom
