// SPDX-License-Identifier: BSD-3-Clause
// Process grids on nodes: every node takes a compact piece of the grid that the ranks form.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

/// Fills the nodes in the allocation's order, each with as many ranks as block order gives it, such that the fewest
/// bytes leave their node, and of these orders takes the one with the fewest hop-bytes. It tries tiles where they
/// divide the grid, planes that cut it into boxes (BoxBlocking), strips, halves and hyperplanes (see node_tile.hpp),
/// and block order itself; the more edges, the fewer of each. Tiles that are all alike lie in halves of halves of the
/// nodes, or on a torus that they fill folded (grid_folding.hpp); on up to 1,000 equal nodes `auto` seeks a better
/// order of the pieces; inside a node its piece is halved along the levels. Without tiles what `structure` finds counts
/// too, for up to 20,000 ranks. Work counts ranks placed and what these searches count. Source: C. Karlsson, Optimizing
/// Multi-dimensional MPI Communications on Multi-core Architectures, 2012, ch. 5, with unequal messages; Hunold, von
/// Kirchbach, Lehr, Schulz, Träff, Efficient Process-to-Node Mapping Algorithms for Stencil Computations, CLUSTER 2020.
/// Throws Error as rank_grid() does.
[[nodiscard]] Placement place_tile(const Problem& problem, Meter& meter, const GridOptions& options);

/// place_tile() for a known grid.
[[nodiscard]] Placement tile_grid(const Problem& problem, const RankGrid& grid, Meter& meter);

}  // namespace topoloom::grid
