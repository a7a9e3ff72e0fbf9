// SPDX-License-Identifier: BSD-3-Clause
// The lines of a process grid on nodes: how many neighbors along every axis are on another node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom {

/// What the lines of a process grid, along each of its axes, cost a node when all of them run at once.
struct NodeMap {
    Extents extents;
    /// leaving[d][i]: cells of node i whose successor along axis d, without wrap-around, is on another node.
    std::vector<std::vector<std::uint32_t>> leaving;
    /// Rounds of a binomial tree along axis d that stay inside nodes on all lines: those over steps of 1, 2, 4, ... cells,
    /// up to the first that leaves a node. A later one counts as one between nodes, even if it leaves none.
    std::vector<std::uint32_t> inner_rounds;

    /// The most messages that a node sends out of itself at once along an axis.
    [[nodiscard]] std::uint32_t external_links(std::size_t axis) const;
    /// The sum over all axes: E. A tile of k_1 x ... x k_d inside a larger grid has tile_surface() of them.
    [[nodiscard]] std::uint32_t external_links() const;
};

/// `node_of_cell` names the nodes 0 .. n-1 of the cells of a grid, row-major with the last axis the fastest. Throws
/// Error unless there is one for every cell, below the number of cells. O(cells * axes * log extent).
/// Source: C. Karlsson, Optimizing Multi-dimensional MPI Communications on Multi-core Architectures, 2012, def. 2.
[[nodiscard]] NodeMap node_map(const Extents& extents, std::span<const std::uint32_t> node_of_cell);

/// External links of a tile inside a larger grid: the sum over its axes of the product of its other extents, each
/// times what a link along that axis weighs (1 where no weights are given). Same source, eq. 5.1 and sec. 5.3.3.
[[nodiscard]] double tile_surface(const Extents& tile, std::span<const double> weight = {});

}  // namespace topoloom
