// SPDX-License-Identifier: BSD-3-Clause
// Spanning trees of a grid that share no directed edge.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/extents.hpp"

namespace topoloom {

/// An edge of a tree: parent, child, number of the tree, and number of steps from the root to the child.
struct TreeStep {
    std::size_t parent, child, tree;
    std::uint64_t depth;
};

/// Cells are numbered row-major. On a closed grid (torus) every axis has two trees, and each cell has every
/// neighbor as its parent in one of them. On an open grid (mesh) every axis has one tree, without wraparound.
/// Axes of two cells are open, and one open axis makes the whole grid open; axes of one cell are ignored. The
/// trees are those of disjoint_trees() in orders/spanning_trees.hpp, which explains why they are disjoint:
/// Edmonds 1973.
class GridTrees {
   public:
    static constexpr std::size_t max_axes = 8;

    /// Throws Error for more than max_axes axes.
    GridTrees(const Extents& extents, bool closed, std::size_t root) : closed_(closed) {
        if (extents.size() > max_axes)
            fail("a grid of ", extents.size(), " axes; there may be ", max_axes, " at most");
        for (const std::uint32_t extent : extents) {
            if (extent == 1) continue;
            closed_ = closed_ && extent > 2;
            by_extent_[axes_] = Divisor(extent);
            extent_[axes_++] = extent;
        }
        std::size_t stride = 1;
        for (std::size_t axis = axes_; axis-- > 0; stride *= extent_[axis]) stride_[axis] = stride;
        root_ = cell(root);
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            const std::uint64_t reach =
                closed_ ? extent_[axis] - 1 : std::max(root_[axis], extent_[axis] - 1 - root_[axis]);
            height_ += reach;
            if (axes_ > 1 && reach < detour(axis)) detour_ = std::max(detour_, detour(axis) - reach);
        }
    }

    [[nodiscard]] std::size_t count() const { return axes_ * (closed_ ? 2 : 1); }
    /// Maximum number of steps from the root to a cell.
    [[nodiscard]] std::uint64_t height() const { return height_ + detour_; }

    /// Calls visit(step) for each edge into a cell; every edge comes from a different parent.
    template <class Visit>
    void each_parent(std::size_t child, const Visit& visit) const {
        const Cell at = cell(child);
        if (at == root_) return;
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            if (!closed_) {
                visit(step_into(at, axis, is_entered_downward(at, axis)));
                continue;
            }
            visit(step_into(at, axis, false));
            visit(step_into(at, axis, true));
        }
    }
    /// Calls visit(step) for each edge out of a cell; every edge leads to a different child.
    template <class Visit>
    void each_child(std::size_t parent, const Visit& visit) const {
        const Cell from = cell(parent);
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            for (const bool down : {false, true}) {
                if (!closed_ && (down ? from[axis] == 0 : from[axis] + 1 == extent_[axis])) continue;
                const Cell to = neighbor_cell(from, axis, down);
                if (to != root_ && (closed_ || is_entered_downward(to, axis) == down))
                    visit(step_into(to, axis, down));
            }
        }
    }
    /// Calls visit(cell) for the root and the cells around it. On an open grid, no other cell has more
    /// children than these.
    template <class Visit>
    void each_cell_around_root(const Visit& visit) const {
        Cell at = root_;
        visit_around(at, 0, visit);
    }

   private:
    using Cell = std::array<std::uint32_t, max_axes>;

    [[nodiscard]] Cell cell(std::size_t number) const {
        Cell at{};
        auto rest = static_cast<std::uint32_t>(number);
        for (std::size_t axis = axes_; axis-- > 0;) {
            const std::uint32_t line = by_extent_[axis].quotient(rest);
            at[axis] = rest - line * extent_[axis];
            rest = line;
        }
        return at;
    }
    [[nodiscard]] std::size_t number(const Cell& at) const {
        std::size_t sum = 0;
        for (std::size_t axis = 0; axis < axes_; ++axis) sum += at[axis] * stride_[axis];
        return sum;
    }
    [[nodiscard]] Cell neighbor_cell(Cell at, std::size_t axis, bool down) const {
        std::uint32_t& place = at[axis];
        place = down ? (place == 0 ? extent_[axis] : place) - 1 : place + 1 == extent_[axis] ? 0 : place + 1;
        return at;
    }
    /// Number of steps along this axis to a cell with the root's coordinate, in the tree of the axis: once
    /// around the ring, or one step away and back.
    [[nodiscard]] std::uint64_t detour(std::size_t axis) const { return closed_ ? extent_[axis] : 2; }
    /// Whether the path to a cell traverses an open line downward.
    [[nodiscard]] bool is_entered_downward(const Cell& at, std::size_t axis) const {
        return at[axis] == root_[axis] ? at[axis] + 1 < extent_[axis] : at[axis] < root_[axis];
    }
    [[nodiscard]] TreeStep step_into(const Cell& at, std::size_t axis, bool down) const {
        std::uint64_t depth = at[axis] == root_[axis] ? detour(axis) : 0;
        for (std::size_t i = 0; i < axes_; ++i) depth += distance(at, i, down);
        const std::size_t first = tree_axis(at, axis);
        return {number(neighbor_cell(at, axis, !down)), number(at),
                closed_ ? 2 * first + (down ? 1 : 0) : first, depth};
    }
    [[nodiscard]] std::uint64_t distance(const Cell& at, std::size_t axis, bool down) const {
        const std::uint32_t to = at[axis], from = root_[axis];
        if (!closed_) return to > from ? to - from : from - to;
        const std::uint32_t up = to >= from ? to - from : to + extent_[axis] - from;
        return down && up > 0 ? extent_[axis] - up : up;
    }
    /// Returns the axis of the tree that enters a cell along `axis`.
    [[nodiscard]] std::size_t tree_axis(const Cell& at, std::size_t axis) const {
        if (at[axis] == root_[axis]) return axis;
        std::size_t next = axis;
        do next = next + 1 == axes_ ? 0 : next + 1;
        while (at[next] == root_[next]);
        return next;
    }
    template <class Visit>
    void visit_around(Cell& at, std::size_t axis, const Visit& visit) const {
        if (axis == axes_) return visit(number(at));
        const std::uint32_t middle = root_[axis];
        for (std::uint32_t place = middle > 0 ? middle - 1 : 0; place < extent_[axis] && place <= middle + 1;
             ++place) {
            at[axis] = place;
            visit_around(at, axis + 1, visit);
        }
        at[axis] = middle;
    }

    bool closed_;
    std::size_t axes_ = 0;
    Cell extent_{}, root_{};
    std::array<Divisor, max_axes> by_extent_{};
    std::array<std::size_t, max_axes> stride_{};
    std::uint64_t height_ = 0;  // number of steps to the farthest corner
    // Maximum extra length of a path to a cell with the root's coordinate on an axis.
    std::uint64_t detour_ = 0;
};

}  // namespace topoloom
