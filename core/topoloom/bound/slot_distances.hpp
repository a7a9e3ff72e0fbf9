// SPDX-License-Identifier: BSD-3-Clause
// Distances between all slots of a small allocation, as a matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::bound {

/// Indexed by positions in the allocation; 4 bytes per pair of slots.
class SlotDistances {
   public:
    explicit SlotDistances(const Allocation& allocation)
        : count_(allocation.slot_count()), rows_(count_ * count_) {
        const auto space = make_slot_space(allocation.machine(), allocation.slots());
        for (std::size_t a = 0; a < count_; ++a)
            space->measure_distances(static_cast<std::uint32_t>(a), 0,
                                     std::span(rows_).subspan(a * count_, count_));
        for (std::size_t a = 0; a < count_; ++a) {
            for (std::size_t b = 0; b < a; ++b) symmetric_ = symmetric_ && (*this)(a, b) == (*this)(b, a);
        }
    }

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] bool symmetric() const { return symmetric_; }
    std::uint32_t operator()(std::size_t from, std::size_t to) const { return rows_[from * count_ + to]; }

   private:
    std::size_t count_;
    std::vector<std::uint32_t> rows_;
    bool symmetric_ = true;
};

}  // namespace topoloom::bound
