// SPDX-License-Identifier: BSD-3-Clause
// For every slot of an allocation the slots nearest to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/state/halved_slots.hpp"

namespace topoloom {

/// Searches the slots of an allocation for those nearest to one of them. Exact; among equals those that come early along
/// the locality-preserving order, seen from the slot. About O(count + log slots) per search where regions rule out parts
/// of the machine, else O(slots).
class NearSlotSearch {
   public:
    NearSlotSearch(const Allocation& allocation, std::uint32_t count);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    /// Writes the count() slots nearest to a position, nearest first, without itself.
    void list(Position position, Position* out) const;

   private:
    struct Near {
        std::uint64_t distance;
        std::uint32_t at;  // along the order
    };

    void search(std::uint32_t part, std::uint64_t bound, std::uint32_t from, const SlotSpace::Pull& pull,
                std::vector<Near>& found) const;
    void insert(Near near, std::vector<Near>& found) const;

    HalvedSlots slots_;
    std::uint32_t count_;
};

/// Lists of `count()` slots each, nearest first, without the slot itself; slots are named by their position in the
/// allocation. Exact; see NearSlotSearch for the order of equals. Memory 4 bytes per entry; made in about
/// O(slots * (count + log slots)) where regions rule out parts of the machine, else O(slots^2), on all cores.
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
