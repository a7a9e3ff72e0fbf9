// SPDX-License-Identifier: BSD-3-Clause
// Recognizes an allocation that forms a grid of routers with equal groups of slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/grid/box_blocking.hpp"

namespace topoloom::grid {

struct SlotGrid {
    Extents extent;  // extent in routers; a tree is one router
    std::vector<bool> wraps;
    std::vector<GroupLevel> inside;  // levels inside a router, bottom-up
    std::uint64_t slots_per_router = 1;
    std::vector<Slot> slots;  // router by router, row-major; inside a router group by group
    bool has_ports = false;   // whether ports add costs that neither the levels nor the grid describe
};

/// The grid that the slots of an allocation form on a tree, torus or mesh. Uses all slots, or the first whole
/// groups in every router if these suffice for `ranks` ranks. None if routers or groups differ, or rows of a
/// torus are incomplete.
[[nodiscard]] std::optional<SlotGrid> slot_grid(const Allocation& allocation, std::size_t ranks);

/// Lower bound of the distance between two slots of the machine.
[[nodiscard]] std::uint32_t min_distance(const Machine& machine);

}  // namespace topoloom::grid
