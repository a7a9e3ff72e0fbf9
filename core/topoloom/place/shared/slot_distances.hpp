// SPDX-License-Identifier: BSD-3-Clause
// Distances between slots as a single type, for searches that are not compiled for each space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::shared {

/// Distances between slots, which are identified by their position in the allocation: from a table if there
/// are few slots, else by a virtual call. Refers to the allocation.
class SlotDistances {
   public:
    using Point = Position;

    /// Builds a table for up to 2048 slots in O(slots^2).
    explicit SlotDistances(const Allocation& allocation);

    [[nodiscard]] std::uint32_t distance(Point a, Point b) const {
        if (!table_.empty()) return table_[a.value * port_cost_.size() + b.value];
        return space_->distance(a.value, b.value);
    }
    [[nodiscard]] std::uint32_t port_distance(Point a) const { return port_cost_[a.value]; }
    /// The points of all slots, in allocation order.
    [[nodiscard]] std::vector<Point> points() const { return id_list<Position>(port_cost_.size()); }

   private:
    static constexpr std::size_t max_in_table = 2048;  // 8 MiB; a larger table would exceed the caches

    std::unique_ptr<SlotSpace> space_;
    std::vector<std::uint16_t> table_;
    std::vector<std::uint32_t> port_cost_;
};

}  // namespace topoloom::shared
