// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/collectives/virtual_mesh.hpp"

namespace topoloom {

namespace {

/// Side of the smallest square or cube that has room for all ranks.
std::uint32_t smallest_side(std::size_t ranks, int axes) {
    std::uint64_t side = 1;
    while (side * side * (axes == 3 ? side : 1) < ranks) ++side;
    return static_cast<std::uint32_t>(side);
}

}  // namespace

VirtualMesh::VirtualMesh(std::size_t ranks, int axes) {
    const std::uint32_t side = smallest_side(ranks, axes);
    const auto planes = [&](std::uint64_t plane) {
        return static_cast<std::uint32_t>((ranks + plane - 1) / plane);
    };
    extent_ = {side, axes == 3 ? side : 1, 1};
    extent_[2] = planes(std::uint64_t{side} * extent_[1]);
    // If a single plane has holes, there is no full plane to replace them; its rows therefore become the
    // planes.
    if (extent_[2] == 1) extent_ = {side, 1, planes(side)};
    const std::size_t last = ranks - std::size_t{side} * extent_[1] * (extent_[2] - 1);
    full_rows_ = static_cast<std::uint32_t>(last / side);
    rest_ = static_cast<std::uint32_t>(last % side);
    by_row_ = Divisor(extent_[0]);
    by_plane_ = Divisor(extent_[1]);
}

std::uint64_t VirtualMesh::origin_count(const Cell& cell, int axis) const {
    const auto [x, y, z] = cell;
    const std::uint64_t width = extent_[0];
    if (axis == 0) return 1;
    if (axis == 1) {
        if (z + 1 == extent_[2]) return y < full_rows_ ? width : rest_;
        return width + (y == full_rows_ && x >= rest_ ? replaced_hole_count(rest_, z) : 0);
    }
    if (z + 1 == extent_[2]) return full_rows_ * width + (x < rest_ ? rest_ : 0);
    std::uint64_t count = width * extent_[1];
    if (x >= rest_) count += replaced_hole_count(rest_, z);
    if (extent_[1] > 1 && !has({x, y, extent_[2] - 1})) {
        count += width * replaced_hole_count(full_rows_, z);
        if (x < rest_ && full_rows_ % (extent_[2] - 1) == z) count += rest_;
    }
    return count;
}

}  // namespace topoloom
