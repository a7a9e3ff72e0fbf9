// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/stencil.hpp"

#include <array>
#include <string>

#include "topoloom/pattern/argument_check.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_ranks = (std::size_t{1} << 31) - 1;
constexpr std::size_t max_axes = 32;
// A box with 10 axes has 3^10 points per rank; larger graphs do not fit in memory.
constexpr std::size_t max_box_axes = 10;

std::string format_grid(std::span<const GridAxis> grid) {
    std::string text;
    for (const GridAxis& axis : grid) {
        if (!text.empty()) text += 'x';
        text += std::to_string(axis.extent);
    }
    return text;
}

std::size_t count_ranks(std::span<const GridAxis> grid) {
    std::size_t count = 1;
    for (const GridAxis& axis : grid) {
        if (axis.extent == 0) fail("the grid ", format_grid(grid), " has an extent of 0; give at least 1");
        if (axis.extent > max_ranks / count) {
            fail("the grid ", format_grid(grid), " has too many ranks: at most 2^31 - 1 are supported");
        }
        count *= axis.extent;
    }
    return count;
}

/// A rank's position in the grid: for each axis, the coordinate and the rank difference per step.
class Cell {
   public:
    Cell(std::span<const GridAxis> grid, Rank rank) : grid_(grid) {
        std::uint32_t rest = rank.value;
        std::uint32_t stride = 1;
        for (std::size_t axis = grid.size(); axis-- > 0;) {
            coordinate_[axis] = rest % grid[axis].extent;
            stride_[axis] = stride;
            rest /= grid[axis].extent;
            stride *= grid[axis].extent;
        }
    }

    /// Calls use(rank) for both neighbors of `from` along the axis, if inside the grid.
    template <class Use>
    void for_each_axis_neighbor(std::size_t axis, bool up, std::uint32_t from, const Use& use) const {
        const auto [extent, periodic] = grid_[axis];
        const bool at_border = coordinate_[axis] == (up ? extent - 1 : 0);
        if (at_border && !periodic) return;
        const std::uint32_t across = (extent - 1) * stride_[axis];
        if (up) {
            use(at_border ? from - across : from + stride_[axis]);
        } else {
            use(at_border ? from + across : from - stride_[axis]);
        }
    }

    /// Calls use(rank) for all 3^d combinations of steps -1, 0, 1 along the axes from `axis` on.
    template <class Use>
    void for_each_box_neighbor(std::size_t axis, std::uint32_t from, const Use& use) const {
        if (axis == grid_.size()) {
            use(from);
            return;
        }
        const auto deeper = [&](std::uint32_t to) { for_each_box_neighbor(axis + 1, to, use); };
        for_each_axis_neighbor(axis, false, from, deeper);
        deeper(from);
        for_each_axis_neighbor(axis, true, from, deeper);
    }

   private:
    std::span<const GridAxis> grid_;
    std::array<std::uint32_t, max_axes> coordinate_;
    std::array<std::uint32_t, max_axes> stride_;
};

}  // namespace

StencilShape stencil_shape(std::size_t dimensions, std::size_t points) {
    std::size_t box_points = 1;
    for (std::size_t axis = 0; axis < std::min(dimensions, max_axes); ++axis) box_points *= 3;
    if (points == 2 * dimensions + 1) return StencilShape::star;
    if (points == box_points) return StencilShape::box;
    fail("no stencil in ", dimensions, " dimensions has ", points, " points; there are: ", 2 * dimensions + 1,
         " (star), ", box_points, " (box)");
}

CommGraph stencil(std::span<const GridAxis> grid, StencilShape shape, Bytes bytes) {
    if (grid.empty()) fail("a stencil needs a grid with at least one axis, such as 8x8x8");
    const std::size_t axes_allowed = shape == StencilShape::star ? max_axes : max_box_axes;
    if (grid.size() > axes_allowed) {
        fail("the grid ", format_grid(grid), " has ", grid.size(), " axes; this stencil takes at most ",
             axes_allowed);
    }
    const std::size_t rank_count = count_ranks(grid);
    check_pattern("stencil", rank_count, bytes);
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        const Cell cell(grid, u);
        const auto send = [&](std::uint32_t to) {
            if (to != u.value) add(Edge{Rank{to}, bytes});
        };
        if (shape == StencilShape::box) {
            cell.for_each_box_neighbor(0, u.value, send);
            return;
        }
        for (std::size_t axis = 0; axis < grid.size(); ++axis) {
            cell.for_each_axis_neighbor(axis, false, u.value, send);
            cell.for_each_axis_neighbor(axis, true, u.value, send);
        }
    });
}

}  // namespace topoloom
