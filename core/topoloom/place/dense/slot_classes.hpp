// SPDX-License-Identifier: BSD-3-Clause
// Slots and nodes that can be exchanged without changing the objective of any placement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/place/dense/route_table.hpp"

namespace topoloom::dense {

/// Interchangeable slots of one node.
struct SlotClass {
    std::uint32_t node;  // index in Allocation::nodes()
    std::vector<Position> members;
};

/// Symmetries of a small allocation. Symmetries of distances are in general none of routes, so nodes are
/// interchangeable only if exchanging them maps every route to a route over equal links.
struct SlotClasses {
    std::vector<SlotClass> classes;
    /// By node: the first node that it is interchangeable with, or the node itself.
    std::vector<std::uint32_t> first_twin;
};

/// Whether slots of one node are interchangeable in spite of different distances, because the objective
/// depends only on nodes.
enum class SlotDetail { nodes, distances };

/// `distances` are those of dense_distances(); `background` is the bytes of other traffic on each link of the
/// machine, or empty. O(nodes^3 * hops + slots^3).
[[nodiscard]] SlotClasses find_slot_classes(const Allocation& allocation, const RouteTable& routes,
                                            std::span<const std::int64_t> distances,
                                            std::span<const double> background, SlotDetail detail);

}  // namespace topoloom::dense
