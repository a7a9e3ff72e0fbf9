// SPDX-License-Identifier: BSD-3-Clause
// The slots of an allocation in Hilbert-curve order, recursively bisected, for branch-and-bound searches for
// near slots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom {

/// The slots in Hilbert-curve order, which preserves locality: slots with close indices are close on the
/// machine.
class HilbertSlots {
   public:
    explicit HilbertSlots(const Allocation& allocation);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(order_.size()); }
    /// The allocation position of the slot with this index in the order; index() is the inverse.
    [[nodiscard]] Position position(std::uint32_t index) const { return order_[index]; }
    [[nodiscard]] std::uint32_t index(Position position) const { return index_in_order_[position.value]; }
    [[nodiscard]] std::span<const SlotSpace::Part> parts() const { return space_->parts(); }
    [[nodiscard]] const SlotSpace& space() const { return *space_; }

   private:
    std::vector<Position> order_;
    std::vector<std::uint32_t> index_in_order_;
    std::unique_ptr<SlotSpace> space_;
};

}  // namespace topoloom
