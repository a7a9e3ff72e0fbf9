// SPDX-License-Identifier: BSD-3-Clause
// The nearest slots of every slot of an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/state/hilbert_slots.hpp"

namespace topoloom {

/// Finds the `count` slots nearest to a slot, exactly. Ties are in Hilbert-curve order, starting with the
/// half that contains the slot. Takes about O(count + log slots) per search where bounds prune parts of the
/// machine, else O(slots).
class NearSlotSearch {
   public:
    NearSlotSearch(const Allocation& allocation, std::uint32_t count);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    /// Writes the count() slots nearest to a position, nearest first, excluding the position itself.
    void list(Position position, Position* out) const;

   private:
    struct NearSlot {
        std::uint64_t distance;
        std::uint32_t at;  // index in Hilbert-curve order
    };

    void search(std::uint32_t part, std::uint64_t bound, std::uint32_t from,
                const SlotSpace::DistanceSum& sum, std::vector<NearSlot>& found) const;
    void insert(NearSlot near, std::vector<NearSlot>& found) const;

    HilbertSlots slots_;
    std::uint32_t count_;
};

/// Lists of count() slots each, nearest first, excluding the slot itself; slots are identified by their
/// position in the allocation. Lists are exact; for ties see NearSlotSearch. An entry takes 4 bytes. Building
/// the lists on `threads` threads takes about O(slots * (count + log slots)) where bounds prune parts of the
/// machine, else O(slots^2).
class NearSlots {
   public:
    NearSlots(const Allocation& allocation, std::uint32_t count, int threads);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::span<const Position> near(Position position) const {
        return {near_.data() + std::size_t{position.value} * count_, count_};
    }

   private:
    std::uint32_t count_ = 0;
    std::vector<Position> near_;
};

}  // namespace topoloom
