// SPDX-License-Identifier: BSD-3-Clause
// Orthogonal recursive bisection of the patches of molecular dynamics and the machine together.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/option.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// Which ranks are patches, and how they lie.
struct Patches {
    Extents cells;
    std::vector<Rank> patch_of_cell;  // row-major

    [[nodiscard]] std::size_t count() const { return patch_of_cell.size(); }
};

/// The position in the allocation for the patch of each cell. The box of cells and the slots are halved
/// together, cells by load and slots by capacity, each between planes: on a torus or mesh the longest axis of the cells
/// along the longest axis of the slots and so on, elsewhere always the longest. A cell goes to the middle of its part of
/// the slots; several do where cutting on would only set them askew. O((cells + slots) log slots).
[[nodiscard]] std::vector<Position> halve_together(const Problem& problem, const Patches& patches);

}  // namespace topoloom::structure
