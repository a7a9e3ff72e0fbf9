// SPDX-License-Identifier: BSD-3-Clause
// Halves a grid of ranks and an allocation of any shape together, down to single slots.
#pragma once

#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom::grid {

/// Which slots are used if slots outnumber ranks: the first along the Hilbert curve, or those with the lowest
/// numbers.
enum class SlotChoice { hilbert, by_number };

/// How the cells of a part are cut.
enum class CutChoice {
    /// Cut at a plane across the axis where it separates the fewest bytes; the lower cells go to the lower
    /// slots. O(n log n).
    by_shape,
    /// Cut across the axis, and assign the halves in the direction, with the lowest cost, given the current
    /// places of all other ranks. O(edges * axes * log n).
    by_cost,
};

/// Halves the slots along the longest axis of the remaining slots, or between the two groups that are
/// farthest apart if the machine has no axes. Cuts the cells at the same fraction, so that each slot gets the
/// same number of cells to within one. This is the orthogonal recursive bisection of Ercal, Ramanujam,
/// Sadayappan, Task allocation onto a hypercube by recursive mincut bipartitioning, JPDC 10 (1990), with
/// planes as cuts.
[[nodiscard]] std::vector<Slot> place_by_halving(const GridPattern& pattern, const CommGraph& symmetric,
                                                 const Allocation& allocation, SlotChoice choice,
                                                 CutChoice cuts);

}  // namespace topoloom::grid
