// SPDX-License-Identifier: BSD-3-Clause
// Chooses the order in which mesh axes are mapped to domains, torus axes and rails.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/choose/group_times.hpp"
#include "topoloom/choose/mesh_layout.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/generators/mesh_pattern.hpp"

namespace topoloom {

/// A way to lay a mesh of ranks along a line of slots.
struct AxisOrder {
    /// Pieces of axes in the order in which they vary along the line, fastest first. Pieces of one axis
    /// ascend by digit.
    std::vector<AxisPiece> pieces;
    /// By axis: whether every other row of a piece runs backwards, so that neighbors are closer.
    std::vector<bool> back_and_forth;
    std::vector<Slot> slot_of_rank;  // in rank numbers, the first axis varies fastest
    /// By traffic: the objective `time`, summed over its phases, or the time that GroupTimes give.
    std::vector<double> seconds;
    /// By traffic: MeshTraffic::shape of its rings.
    std::vector<std::vector<std::uint32_t>> ring_shapes;

    [[nodiscard]] double total() const;
};

struct AxisOrders {
    AxisOrder given;   // the default order, on the slots in allocation order
    AxisOrder nested;  // the best order of unsplit axes on the same slots
    AxisOrder best;    // the best of all orders tried
};

/// The orders found for layouts. Pieces are axes of the coarsest mesh that divides every view of the layout.
/// If that mesh has more than eight axes, the layout is a single piece.
struct LayoutOrders {
    AxisOrder given;           // the first layout, on the slots in allocation order
    std::size_t named_layout;  // index of the best layout on the slots in allocation order
    AxisOrder named;
    std::size_t best_layout;  // index of the layout with the best of all orders tried
    AxisOrder best;
};

/// Chooses the order of the axes of a mesh. Traffics run one after another; the groups of a traffic
/// communicate at the same time.
/// Tries every order of the axes on each of slot_lines(). Then splits the axes of the best orders into prime
/// factors, and exchanges pairs of factors until none gains. Stops after measuring 50 million messages per
/// line. Rows may run back and forth. In a network with coordinates, a group that spans several rows has a ring
/// along each dimension if that is faster, as the collectives of tori do.
///
/// Orders are compared by the objective `time`, or by `times`. A traffic's time depends only on the pieces of
/// its own axes, so most times are cached. Work counts measured messages; when the budget ends, returns the best
/// orders so far. Deterministic. `pieces` is the default order; if empty, the axes in input order. Throws Error if there
/// are more ranks than slots or more than eight axes, pieces are not those of the axes, and when
/// mesh_phases() does.
[[nodiscard]] AxisOrders order_axes(const Allocation& allocation, std::span<const std::uint32_t> extents,
                                    std::span<const MeshTraffic> traffic, const Budget& budget = {},
                                    std::span<const AxisPiece> pieces = {}, const GroupTimes& times = {});

/// Like order_axes(), but ranks may be numbered only as in the given layouts. Tries every layout on each
/// line, then exchanges pieces of the best ones as above, which moves ranks. All layouts contain the same
/// traffics in the same order. Throws Error when order_axes() does, and if there are no layouts, views differ
/// in size, or layouts differ in the number of traffics.
[[nodiscard]] LayoutOrders order_layouts(const Allocation& allocation, std::span<const MeshLayout> layouts,
                                         const Budget& budget = {}, const GroupTimes& times = {});

}  // namespace topoloom
