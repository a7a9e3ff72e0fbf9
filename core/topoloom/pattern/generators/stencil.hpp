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

/// The shape that has this number of points, the middle one included: 2d + 1 for the star, 3^d for the box.
/// Throws Error for any other number.
[[nodiscard]] StencilShape stencil_shape(std::size_t dimensions, std::size_t points);

/// Every rank sends `bytes` in one message to each of its neighbors. Ranks are numbered row-major: the last
/// axis is the fastest, as in MPI_Cart_create. On a short periodic axis several neighbors are one rank:
/// messages to the same rank are summed (extent 2) and those to oneself dropped (extent 1). O(edges), no
/// memory besides the graph. Throws Error for no axes, an extent of 0, 2^31 or more ranks, more than 32 axes
/// (10 for a box), or bytes < 0. Source: A. Bhatele, L. V. Kale, Benefits of Topology Aware Mapping for Mesh
/// Interconnects, PPL 18(4), 2008, sec. 3.
[[nodiscard]] CommGraph stencil(std::span<const GridAxis> grid, StencilShape shape, Bytes bytes);

}  // namespace topoloom
