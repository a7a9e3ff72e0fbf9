// SPDX-License-Identifier: BSD-3-Clause
// Recognizes grids, rings, hypercubes and equal groups in a communication graph, independent of rank numbering.
#pragma once

#include <optional>

#include "topoloom/pattern/recognize/adjacency.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"

namespace topoloom {

/// The pattern that a symmetric graph is, checked edge by edge: stars and boxes with any mix of paths, rings and
/// cliques as axes (hypercubes and all-to-all among them), and equal groups with all-to-all inside, apart or joined by
/// lighter messages. Axes come longest first. A periodic extent of 2 is a path, one of 3 a clique;
/// in a star one of 4 is a hypercube of two axes, and in a box extents of 2 and periodic ones of 3 join into one
/// clique, since these are the same graphs. Other graphs are mostly rejected after O(ranks), otherwise O(edges *
/// degree). Star: the axes at one rank are told apart by the squares of the Cartesian product (Imrich, Peterin,
/// Recognizing Cartesian products in linear time, Discrete Math. 307 (2007)); box: by the inclusions of neighborhoods
/// that make the Cartesian skeleton of the strong product (Hammack, Imrich, On Cartesian skeletons of graphs, Ars Math.
/// Contemp. 2 (2009)). The rest of the grid then follows cell by cell.
[[nodiscard]] std::optional<GridPattern> recognize(const CommGraph& symmetric, int threads = 0);

/// Candidates for recognize(); measure() decides.
[[nodiscard]] std::optional<GridPattern> propose_star(const Adjacency& graph, std::uint32_t corner);
[[nodiscard]] std::optional<GridPattern> propose_box(const Adjacency& graph, std::uint32_t corner);
/// Exact: all ranks of a group communicate, each with more bytes than any message between groups.
[[nodiscard]] std::optional<GridPattern> find_groups(const CommGraph& symmetric);

}  // namespace topoloom
