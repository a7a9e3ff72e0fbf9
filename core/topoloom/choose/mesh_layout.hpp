// SPDX-License-Identifier: BSD-3-Clause
// Layouts (how the ranks of a job are numbered for several meshes), and pieces of mesh axes.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/generators/mesh_pattern.hpp"

namespace topoloom {

/// A piece of an axis: the whole axis, or one of its factors.
struct AxisPiece {
    std::uint32_t axis;
    std::uint32_t size;
    friend bool operator==(const AxisPiece&, const AxisPiece&) = default;
};

/// Traffic along axes of a mesh with these extents. Different traffics may view the same ranks as different
/// meshes: Megatron's experts divide the ranks into etp x ep x edp x pp, its attention into tp x cp x dp x
/// pp.
struct ViewTraffic {
    std::vector<std::uint32_t> extents;
    MeshTraffic traffic;
};

/// A numbering of a job's ranks, described by the traffic that results from it.
using MeshLayout = std::vector<ViewTraffic>;

}  // namespace topoloom
