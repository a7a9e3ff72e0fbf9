// SPDX-License-Identifier: BSD-3-Clause
// A grid and an allocation of any shape, halved side by side until single slots are left.
#pragma once

#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// Which slots the halving uses when there are more than ranks: the first along the Hilbert curve or in the order of
/// the machine, so that they lie together.
enum class SlotChoice { hilbert, by_number };

/// How the cells are cut.
enum class CutChoice {
    /// Along the axis with the least bytes across a plane, lower half to lower half: O(n log n).
    by_shape,
    /// Along the axis, and in the direction, that cost least given where all others are now: O(edges * axes * log n).
    by_cost,
};

/// Slots are halved along the longest axis of what is left of them, or between the groups that are farthest apart where
/// the machine has no axes; the cells of the grid at the same part of their number, so that more cells than slots
/// share them equally, to within one cell. The orthogonal recursive bisection of Ercal,
/// Ramanujam, Sadayappan, Task allocation onto a hypercube by recursive mincut bipartitioning, JPDC 10 (1990), with
/// planes for cuts.
[[nodiscard]] std::vector<Slot> place_by_halving(const GridPattern& pattern, const CommGraph& symmetric,
                                                 const Allocation& allocation, SlotChoice choice,
                                                 CutChoice cuts);

}  // namespace topoloom::grid
