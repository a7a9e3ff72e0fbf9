// SPDX-License-Identifier: BSD-3-Clause
// Inter-node neighbors along each axis of a process grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom {

/// Inter-node communication of a node when all lines along an axis of a process grid communicate at once.
struct NodeMap {
    Extents extents;
    /// leaving[d][i]: cells of node i whose successor along axis d, without wrap-around, is on another node.
    std::vector<std::vector<std::uint32_t>> leaving;
    /// Rounds of a binomial tree along axis d that stay inside nodes on all lines: steps of 1, 2, 4, ... cells up
    /// to the first that leaves a node. Later rounds count as inter-node even if none leaves a node.
    std::vector<std::uint32_t> inner_rounds;

    /// The largest number of messages that a node sends to others at once along an axis.
    [[nodiscard]] std::uint32_t external_links(std::size_t axis) const;
    /// The sum over all axes: E. For a tile of k_1 x ... x k_d inside a larger grid it equals tile_surface().
    [[nodiscard]] std::uint32_t external_links() const;
};

/// `node_of_cell` names the nodes 0 .. n-1 of the cells of a grid, row-major with the last axis the fastest. Throws
/// Error unless there is one for every cell, below the number of cells. O(cells * axes * log extent).
/// Source: C. Karlsson, Optimizing Multi-dimensional MPI Communications on Multi-core Architectures, 2012, def. 2.
[[nodiscard]] NodeMap node_map(const Extents& extents, std::span<const std::uint32_t> node_of_cell);

/// External links of a tile inside a larger grid: the sum over axes of the product of the other extents, times the
/// weight of a link along that axis (default 1). Same source, eq. 5.1 and sec. 5.3.3.
[[nodiscard]] double tile_surface(const Extents& tile, std::span<const double> weight = {});

}  // namespace topoloom
