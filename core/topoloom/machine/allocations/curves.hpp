// SPDX-License-Identifier: BSD-3-Clause
// Space-filling curves through node coordinates or grid cells, in any number of dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// A curve fills a box around all points and skips missing ones.
///
/// hilbert  steps between neighbors in full cubes of a power of two (Skilling, Programming the Hilbert curve, AIP Conf.
///          Proc. 707, 2004)
/// morton   interleaves the bits of the coordinates; not all steps are between neighbors (IBM, 1966)
/// peano    steps between neighbors in full cubes of a power of three (Math. Ann. 36, 1890)
/// snake    traverses every other row backwards (boustrophedon): steps between neighbors in any full grid
enum class Curve { hilbert, morton, peano, snake };

/// Sorts the positions 0 .. slot_count-1 of the allocation along the curve through the coordinates of their nodes. Slots of
/// one node stay together. O(slots log slots).
[[nodiscard]] std::vector<std::uint32_t> sort_along_curve(Curve curve, const Allocation& allocation);

/// Sorts the cells of a grid, numbered row-major, along the curve.
[[nodiscard]] std::vector<std::uint32_t> sort_along_curve(Curve curve,
                                                          std::span<const std::uint32_t> extents);

}  // namespace topoloom
