// SPDX-License-Identifier: BSD-3-Clause
// Ranks that must be on given slots, such as I/O servers or ranks bound to devices.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// A rank and the slot that it is fixed to.
using FixedRank = std::pair<Rank, Slot>;

class FixedRanks {
   public:
    /// No rank is fixed.
    FixedRanks() = default;
    /// Throws Error if a rank does not exist or is fixed twice.
    FixedRanks(std::size_t rank_count, std::span<const FixedRank> fixed);

    [[nodiscard]] bool empty() const { return ranks_.empty(); }
    /// The fixed ranks, in ascending order.
    [[nodiscard]] std::span<const Rank> ranks() const { return ranks_; }
    [[nodiscard]] bool contains(Rank u) const { return !empty() && slots_[u.value] != Slot::none; }
    /// The slot of a fixed rank.
    [[nodiscard]] Slot slot(Rank u) const { return slots_[u.value]; }
    /// Whether all fixed ranks are on their slots.
    [[nodiscard]] bool are_in_place(std::span<const Slot> slot_of_rank) const {
        return std::ranges::all_of(ranks_, [&](Rank u) { return slot_of_rank[u.value] == slot(u); });
    }

   private:
    std::vector<Rank> ranks_;
    std::vector<Slot> slots_;  // by rank; empty if no rank is fixed
};

}  // namespace topoloom
