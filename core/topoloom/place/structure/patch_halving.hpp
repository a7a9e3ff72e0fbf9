// SPDX-License-Identifier: BSD-3-Clause
// Orthogonal recursive bisection of the patches of molecular dynamics together with the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/option.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// The ranks that are patches, and their grid of cells.
struct Patches {
    Extents cells;
    std::vector<Rank> patch_of_cell;  // row-major

    [[nodiscard]] std::size_t count() const { return patch_of_cell.size(); }
};

/// Returns, by cell, the position of its patch in the allocation. Halves the box of cells and the slots
/// together, between planes: cells by load, slots by capacity. On a torus or mesh, the longest cell axis is
/// paired with the longest slot axis, and so on; elsewhere the longest axis is cut. Cells go to the middle
/// slot of their part; a part keeps several cells if further cuts would only misalign them. O((cells + slots)
/// log slots).
[[nodiscard]] std::vector<Position> halve_patches_and_slots(const Problem& problem, const Patches& patches);

}  // namespace topoloom::structure
