// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges on a grid of ranks: 5-point, 7-point, 9-point, 27-point, in any number of dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

struct GridAxis {
    std::uint32_t extent = 1;
    bool periodic = true;
};

enum class StencilShape {
    star,  ///< one neighbor in each direction of every axis: 5 points in 2-D, 7 in 3-D
    box,   ///< diagonal neighbors too: 9 points in 2-D, 27 in 3-D
};

/// Returns the shape with this number of points, including the center: 2d + 1 for the star, 3^d for the box.
/// Throws Error for other numbers.
[[nodiscard]] StencilShape stencil_shape(std::size_t dimensions, std::size_t points);

/// Makes a graph in which every rank sends one message of `bytes` to each neighbor. Ranks are numbered
/// row-major: the last axis varies fastest, as in MPI_Cart_create. On a periodic axis of extent 2, both
/// messages to the same neighbor are summed; with extent 1, self-messages are dropped. O(edges), no memory
/// besides the graph. Throws Error for no axes, an extent of 0, 2^31 or more ranks, more than 32 axes (10 for
/// a box), or bytes < 0. Source: A. Bhatele, L. V. Kale, Benefits of Topology Aware Mapping for Mesh
/// Interconnects, PPL 18(4), 2008, sec. 3.
[[nodiscard]] CommGraph stencil(std::span<const GridAxis> grid, StencilShape shape, Bytes bytes);

}  // namespace topoloom
