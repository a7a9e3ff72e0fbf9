// SPDX-License-Identifier: BSD-3-Clause
// Chooses the order in which mesh axes are laid over domains, torus axes and rails.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/choose/mesh_layout.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/generators/mesh_pattern.hpp"

namespace topoloom {

/// A mesh laid along a line of slots.
struct AxisOrder {
    /// Along the line, the fastest first; those of an axis from the lowest digit up.
    std::vector<AxisPiece> pieces;
    /// By axis: every other row of a piece runs backwards, so that steps are short.
    std::vector<bool> back_and_forth;
    std::vector<Slot> slot_of_rank;  // ranks are numbered with the first axis the fastest
    std::vector<double> seconds;     // by traffic: the objective `time`, added up over its phases

    [[nodiscard]] double total() const;
};

struct AxisOrders {
    AxisOrder given;   // the axes as they are, on the slots as they are allocated
    AxisOrder nested;  // the same slots, the axes in their best order, none of them split
    AxisOrder best;    // of all that were looked at
};

/// Pieces are those of the coarsest mesh that divides every view of the layout, or one piece if there is none of at
/// most eight axes.
struct LayoutOrders {
    AxisOrder given;           // the first layout, on the slots as they are allocated
    std::size_t named_layout;  // the best on the same slots
    AxisOrder named;
    std::size_t best_layout;  // of all that were looked at
    AxisOrder best;
};

/// Traffics take turns; groups of one traffic meet. Looks at every order of the axes on each of slot_lines(), then, from
/// the best of them, splits axes into prime factors and exchanges any two of these until that gains nothing, with rows
/// back and forth if that is better, or until 50 million messages were measured on a line. Each order is measured by
/// the objective `time`; that of a traffic depends on the pieces of its own axes only, so few need to be. Work is messages
/// measured; when the budget ends, the orders are the best so far. Deterministic. Throws Error for more ranks than
/// slots, more than eight axes, and as mesh_phases() does.
[[nodiscard]] AxisOrders order_axes(const Allocation& allocation, std::span<const std::uint32_t> extents,
                                    std::span<const MeshTraffic> traffic, const Budget& budget = {});

/// The same where ranks may be numbered in some ways only: every layout on each of the lines, then, from the best, ranks
/// put elsewhere by moving pieces as above. Layouts send the same, in the same order. Throws Error as order_axes() does,
/// for no layouts, views of different sizes, and layouts of different numbers of traffics.
[[nodiscard]] LayoutOrders order_layouts(const Allocation& allocation, std::span<const MeshLayout> layouts,
                                         const Budget& budget = {});

}  // namespace topoloom
