// SPDX-License-Identifier: BSD-3-Clause
// Ways to number the ranks of a job that several meshes divide, and pieces of a mesh's axes.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/generators/mesh_pattern.hpp"

namespace topoloom {

/// A piece of an axis: the whole of it, or one of the factors that it is split into.
struct AxisPiece {
    std::uint32_t axis;
    std::uint32_t size;
    friend bool operator==(const AxisPiece&, const AxisPiece&) = default;
};

/// Traffic whose groups are counted on a mesh of its own: one of the views of ranks that other traffic sees as another
/// mesh. Megatron's experts divide the same ranks into etp x ep x edp x pp as its attention does into tp x cp x dp x pp.
struct ViewTraffic {
    std::vector<std::uint32_t> extents;
    MeshTraffic traffic;
};

/// A way to number the ranks of a job, by what they send when they are numbered so.
using MeshLayout = std::vector<ViewTraffic>;

}  // namespace topoloom
