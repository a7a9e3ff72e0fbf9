// SPDX-License-Identifier: BSD-3-Clause
// Orders of the cells of a grid that fill one node after the other: tiles, strips, halves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom::grid {

/// Cells are numbered row-major, the last axis fastest. `weight` is what two neighbors along an axis exchange.
struct WeightedGrid {
    Extents extents;
    std::vector<double> weight;
};

/// All tiles of `cores` cells whose extents divide those of the grid, the least surface first, then the first in
/// lexicographic order; none where none divides. With equal weights in 2-D: the search over divisors of Karlsson 2012,
/// alg. 5.11. Throws Error for 0 cores. O(divisors of cores, to the power of axes - 1).
[[nodiscard]] std::vector<Extents> node_tiles(const WeightedGrid& grid, std::uint64_t cores);

/// Tile after tile, row-major, and so the cells in each (Karlsson 2012, alg. 5.12). Extents must divide. O(cells).
[[nodiscard]] std::vector<GridCell> tile_order(const Extents& grid, const Extents& tile);

/// The grid cut into this number of even strips along every axis but the first of `axes`; through each of them layer by
/// layer, in which the last of `axes` is the fastest, every other layer backward, so that each begins where the one
/// before has ended (stencil strips: Hunold, von Kirchbach, Lehr, Schulz, Träff, CLUSTER 2020). O(cells).
[[nodiscard]] std::vector<GridCell> strip_order(const Extents& grid, const std::vector<std::size_t>& axes,
                                                const Extents& strips);

/// Halved again and again along the axis that is longest for its weight, down to single cells (k-d tree, same source).
/// O(cells log cells).
[[nodiscard]] std::vector<GridCell> halving_order(const WeightedGrid& grid);

/// Puts `cells` into groups of these sizes, in order: all groups halved again and again, near their middle, by a plane
/// across the axis where the least is cut; a plane that leaves a layer whole comes first (hyperplane, same source, for
/// groups of any sizes). O(cells log cells) and a factor log groups.
void bisect_cells(const WeightedGrid& grid, std::span<GridCell> cells, std::span<const std::uint32_t> sizes);

}  // namespace topoloom::grid
