// SPDX-License-Identifier: BSD-3-Clause
// Inter-node neighbors along each axis of a process grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom {

/// Inter-node communication if all lines along an axis of a process grid communicate at once.
struct NodeMap {
    Extents extents;
    /// [d][i]: number of cells of node i whose successor along axis d, without wrap-around, is on another
    /// node.
    std::vector<std::vector<std::uint32_t>> leaving;
    /// [d]: number of initial rounds of binomial trees along axis d, with steps of 1, 2, 4, ... cells, in
    /// which no message leaves a node. Later rounds count as inter-node.
    std::vector<std::uint32_t> inner_rounds;

    /// The number of simultaneous inter-node messages along an axis, at the node that sends most.
    [[nodiscard]] std::uint32_t external_links(std::size_t axis) const;
    /// The sum of external_links(axis) over all axes (E in the source). For a tile of k_1 x ... x k_d inside
    /// a larger grid it is equal to tile_surface().
    [[nodiscard]] std::uint32_t external_links() const;
};

/// Computes the map. `node_of_cell` is the node, 0 .. n-1, of each grid cell; cells are row-major, so the
/// last axis varies fastest. Throws Error unless each cell has a node, numbered below the number of cells.
/// O(cells * axes * log extent). Source: C. Karlsson, Optimizing Multi-dimensional MPI Communications on
/// Multi-core Architectures, 2012, def. 2.
[[nodiscard]] NodeMap node_map(const Extents& extents, std::span<const std::uint32_t> node_of_cell);

/// Returns the external links of a tile inside a larger grid: the sum over axes of the product of the other
/// extents, times the weight of a link along that axis (default 1). Same source, eq. 5.1 and sec. 5.3.3.
[[nodiscard]] double tile_surface(const Extents& tile, std::span<const double> weight = {});

}  // namespace topoloom
