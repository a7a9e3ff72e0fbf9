// SPDX-License-Identifier: BSD-3-Clause
// The free slots of an allocation in groups of interchangeable slots (see NodeSpec::interchangeable_run_length()).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

class FreeSlotGroups {
   public:
    FreeSlotGroups(const Allocation& allocation, std::span<const Slot> taken)
        : width_(allocation.machine().node_spec().interchangeable_run_length()),
          slots_(allocation.machine().slot_count() / width_) {
        std::vector<char> is_taken(allocation.machine().slot_count(), 0);
        for (const Slot slot : taken) is_taken[slot.value] = 1;
        for (const Slot slot : allocation.slots()) {
            if (is_taken[slot.value] == 0) release(slot);
        }
        for (std::vector<Slot>& slots : slots_) std::ranges::reverse(slots);
    }

    /// Number of groups with a free slot.
    [[nodiscard]] std::size_t size() const { return groups_.size(); }
    /// The free slot of group i that was freed last; initially, its first free slot in the allocation.
    [[nodiscard]] Slot slot(std::size_t i) const { return slots_[groups_[i]].back(); }
    /// Occupies slot(i) and frees another slot. A group that loses its last free slot is replaced by the last
    /// group.
    void exchange(std::size_t i, Slot freed) {
        std::vector<Slot>& from = slots_[groups_[i]];
        from.pop_back();
        const bool emptied = from.empty();
        release(freed);
        if (!emptied) return;
        groups_[i] = groups_.back();
        groups_.pop_back();
    }

   private:
    void release(Slot slot) {
        const std::uint32_t run = slot.value / width_;
        if (slots_[run].empty()) groups_.push_back(run);
        slots_[run].push_back(slot);
    }

    std::uint32_t width_;                   // of a run
    std::vector<std::vector<Slot>> slots_;  // free slots of each group
    std::vector<std::uint32_t> groups_;     // groups with at least one free slot
};

}  // namespace topoloom
