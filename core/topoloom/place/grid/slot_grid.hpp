// SPDX-License-Identifier: BSD-3-Clause
// Recognizes an allocation that is a grid of routers with equal groups of slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/grid/box_blocking.hpp"

namespace topoloom::grid {

struct SlotGrid {
    Extents extent;  // in routers; a tree is one router
    std::vector<bool> wraps;
    std::vector<GroupLevel> inside;  // of a router, bottom-up
    std::uint64_t slots_per_router = 1;
    std::vector<Slot> slots;  // router by router, row-major; those of a router by their groups
    bool has_ports = false;   // whose costs for slots neither levels nor grid describe
};

/// The grid of all slots of a tree, torus or mesh, or of just enough of them, in whole groups, for `ranks` ranks
/// inside every router; none if routers or groups are cut differently, or the rows of a torus are not complete.
[[nodiscard]] std::optional<SlotGrid> slot_grid(const Allocation& allocation, std::size_t ranks);

/// No two slots of the machine are nearer than this.
[[nodiscard]] std::uint32_t min_distance(const Machine& machine);

}  // namespace topoloom::grid
