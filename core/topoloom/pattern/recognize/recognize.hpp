// SPDX-License-Identifier: BSD-3-Clause
// Recognition of grids, rings, hypercubes and equal groups in a communication graph, independent of rank
// numbering.
#pragma once

#include <optional>

#include "topoloom/pattern/recognize/adjacency.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom {

/// Returns the pattern of a symmetric graph, checked edge by edge. Recognizes stars and boxes with any mix of
/// paths, rings and cliques as axes, including hypercubes and alltoall. Also recognizes equal groups with
/// alltoall inside, and no or lighter messages between groups. Axes are sorted by decreasing extent. Some
/// patterns are the same graph: a periodic extent of 2 becomes a path, and 3 a clique. In a star, a periodic
/// extent of 4 becomes a hypercube of two axes. In a box, extents of 2 and periodic extents of 3 form one
/// clique. Most other graphs are rejected in O(ranks), the rest in O(edges * degree). In a star, the axes at
/// one rank are distinguished by the squares of the Cartesian product (Imrich, Peterin, Recognizing Cartesian
/// products in linear time, Discrete Math. 307 (2007)). In a box, they are distinguished by the inclusions of
/// neighborhoods that define the Cartesian skeleton of the strong product (Hammack, Imrich, On Cartesian
/// skeletons of graphs, Ars Math. Contemp. 2 (2009)). The rest of the grid is filled cell by cell.
[[nodiscard]] std::optional<GridPattern> recognize(const CommGraph& symmetric, int threads = 0);

/// These functions propose a pattern; recognize() verifies it with measure().
[[nodiscard]] std::optional<GridPattern> propose_star(const Adjacency& graph, std::uint32_t corner);
[[nodiscard]] std::optional<GridPattern> propose_box(const Adjacency& graph, std::uint32_t corner);
/// Finds groups exactly: all ranks of a group communicate with more bytes than any message between groups.
[[nodiscard]] std::optional<GridPattern> find_groups(const CommGraph& symmetric);

}  // namespace topoloom
