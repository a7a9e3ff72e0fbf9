// SPDX-License-Identifier: BSD-3-Clause
// For every slot of an allocation the slots nearest to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

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
