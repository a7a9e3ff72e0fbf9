// SPDX-License-Identifier: BSD-3-Clause
// Chooses the order in which mesh axes are mapped to domains, torus axes and rails.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/choose/mesh_layout.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/generators/mesh_pattern.hpp"

namespace topoloom {

/// A mesh along a line of slots.
struct AxisOrder {
    /// Pieces along the line, fastest first; pieces of the same axis ascend by digit.
    std::vector<AxisPiece> pieces;
    /// By axis: whether every other row of a piece runs backwards, which shortens steps.
    std::vector<bool> back_and_forth;
    std::vector<Slot> slot_of_rank;  // ranks are numbered with the first axis the fastest
    std::vector<double> seconds;     // by traffic: the objective `time`, summed over its phases

    [[nodiscard]] double total() const;
};

struct AxisOrders {
    AxisOrder given;   // the axes in input order, on the slots in allocation order
    AxisOrder nested;  // the best order of unsplit axes on the same slots
    AxisOrder best;    // the best order of all that were tried
};

/// Orders for layouts. Pieces are axes of the coarsest mesh that divides every view of the layout; one single
/// piece if that mesh has more than eight axes.
struct LayoutOrders {
    AxisOrder given;           // the first layout, on the slots in allocation order
    std::size_t named_layout;  // the best layout on the same slots
    AxisOrder named;
    std::size_t best_layout;  // the best layout of all that were tried
    AxisOrder best;
};

/// Orders the axes of a mesh. Traffics run one after another; groups of one traffic run at the same time.
/// Tries every order of the axes on each of slot_lines(). From the best orders, it splits axes into prime
/// factors and exchanges pairs of factors until no exchange gains or 50 million messages were measured per
/// line; rows may run back and forth.
///
/// Orders are compared by the objective `time`. A traffic's time depends only on the pieces of its own axes,
/// so most times are cached. Work counts measured messages; when the budget ends, returns the best orders so
/// far. Deterministic. Throws Error for more ranks than slots, for more than eight axes, and as mesh_phases()
/// does.
[[nodiscard]] AxisOrders order_axes(const Allocation& allocation, std::span<const std::uint32_t> extents,
                                    std::span<const MeshTraffic> traffic, const Budget& budget = {});

/// Like order_axes(), if ranks may be numbered only as in the given layouts: tries every layout on each line;
/// from the best, moves ranks by exchanging pieces as above. All layouts contain the same traffics in the
/// same order. Throws Error as order_axes() does, and for no layouts, views of different sizes, and different
/// numbers of traffics.
[[nodiscard]] LayoutOrders order_layouts(const Allocation& allocation, std::span<const MeshLayout> layouts,
                                         const Budget& budget = {});

}  // namespace topoloom
