// SPDX-License-Identifier: BSD-3-Clause
// Orders the cells of a grid so that consecutive cells fill node after node, in tiles, strips or halves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom::grid {

/// A grid whose cells are numbered row-major, last axis fastest. `weight[i]` is the number of bytes that two
/// neighbors along axis i exchange.
struct WeightedGrid {
    Extents extents;
    std::vector<double> weight;
};

/// All tiles of `cores` cells whose extents divide those of the grid, sorted by surface, then
/// lexicographically. In 2-D with equal weights, this is the search over divisors of Karlsson 2012, alg.
/// 5.11.
/// Throws Error for 0 cores. O(divisors of cores, to the power of axes - 1).
[[nodiscard]] std::vector<Extents> node_tiles(const WeightedGrid& grid, std::uint64_t cores);

/// Lists the cells tile by tile; both the tiles and the cells inside a tile are in row-major order (Karlsson
/// 2012, alg. 5.12). Tile extents must divide grid extents. O(cells).
[[nodiscard]] std::vector<GridCell> order_by_tiles(const Extents& grid, const Extents& tile);

/// Cuts the grid into even strips along every axis except the first of `axes`, and lists each strip layer by
/// layer; the last of `axes` is the fastest. Every other layer and strip runs backward, so that each starts
/// where the previous one ends (stencil strips: Hunold, von Kirchbach, Lehr, Schulz, Träff, CLUSTER 2020).
/// O(cells).
[[nodiscard]] std::vector<GridCell> order_by_strips(const Extents& grid, const std::vector<std::size_t>& axes,
                                                    const Extents& strips);

/// Halves the grid repeatedly along the axis with the largest extent / weight, down to single cells (k-d
/// tree, same source). O(cells log cells).
[[nodiscard]] std::vector<GridCell> order_by_halving(const WeightedGrid& grid);

/// Splits `cells` into groups of these sizes, in order. Recursively cuts the sequence of groups near its
/// middle, at the plane that separates the fewest bytes. Prefers planes between whole layers (hyperplane,
/// same source, generalized to groups of any size). O(cells log cells log groups).
void bisect_cells(const WeightedGrid& grid, std::span<GridCell> cells, std::span<const std::uint32_t> sizes);

}  // namespace topoloom::grid
