// SPDX-License-Identifier: BSD-3-Clause
// Places process grids in tiles: every node gets a compact piece of the rank grid.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Fills the nodes in allocation order with the same number of ranks as block order. Minimizes inter-node
/// bytes, then hop-bytes.
///
/// Candidates are tiles that divide the grid, planes that cut it into boxes (BoxBlocking), strips, halves and
/// hyperplanes (see cell_orders.hpp), and block order. The more edges, the fewer candidates of each kind are
/// tried. Equal tiles are assigned to nodes by recursive halving, or folded onto a torus that they fill
/// (grid_folding.hpp). On up to 1,000 equal nodes, `auto` then searches for a better order of the pieces.
/// Inside a node, the piece is halved along the levels. If no tile divides the grid, `structure` is a
/// candidate too, for up to 20,000 ranks. Work counts ranks placed and the work of these searches.
///
/// Source: C. Karlsson, Optimizing Multi-dimensional MPI Communications on Multi-core Architectures, 2012,
/// ch. 5, with unequal messages; Hunold, von Kirchbach, Lehr, Schulz, Träff, Efficient Process-to-Node
/// Mapping Algorithms for Stencil Computations, CLUSTER 2020. Throws Error as rank_grid() does.
[[nodiscard]] Placement place_tile(const Problem& problem, Meter& meter, const GridOptions& options);

/// place_tile() for a known grid.
[[nodiscard]] Placement place_grid_in_tiles(const Problem& problem, const RankGrid& grid, Meter& meter);

}  // namespace topoloom::grid
