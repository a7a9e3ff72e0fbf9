// SPDX-License-Identifier: BSD-3-Clause
// Distances between the slots of an allocation behind one type, for searches that need not be compiled for each space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::shared {

/// Slots are named by their position. From a table if there are few; else at the cost of one call each. Refers to the
/// allocation.
class SlotDistances {
   public:
    using Point = Position;

    /// O(slots^2) for up to 2048 slots.
    explicit SlotDistances(const Allocation& allocation);

    [[nodiscard]] std::uint32_t distance(Point a, Point b) const {
        if (!table_.empty()) return table_[a.value * port_cost_.size() + b.value];
        return space_->distance(a.value, b.value);
    }
    [[nodiscard]] std::uint32_t port_distance(Point a) const { return port_cost_[a.value]; }
    /// The points of all slots.
    [[nodiscard]] std::vector<Point> points() const { return id_list<Position>(port_cost_.size()); }

   private:
    static constexpr std::size_t max_in_table = 2048;  // 8 MiB: more would exceed the caches

    std::unique_ptr<SlotSpace> space_;
    std::vector<std::uint16_t> table_;
    std::vector<std::uint32_t> port_cost_;
};

}  // namespace topoloom::shared
