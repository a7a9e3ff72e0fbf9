// SPDX-License-Identifier: BSD-3-Clause
// A grid of ranks dealt to the slots in equal boxes, as if all slots were equally near.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Cuts the grid into one box for every slot, all equal to within a layer, in the shape of the least surface in bytes;
/// box i, row-major, on slot i of the allocation. What block-distributed arrays do. O(ranks log ranks).
[[nodiscard]] Placement place_box(const Problem& problem, Meter& meter, const GridOptions& options);

/// The same for a grid that is known already; none where the ranks do not fit.
[[nodiscard]] std::optional<Placement> box_grid(const Problem& problem, const RankGrid& grid, Meter& meter);

}  // namespace topoloom::grid
