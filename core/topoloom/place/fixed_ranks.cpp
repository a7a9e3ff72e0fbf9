// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/fixed_ranks.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

FixedRanks::FixedRanks(std::size_t rank_count, std::span<const FixedRank> fixed) {
    if (fixed.empty()) return;
    slots_.assign(rank_count, Slot::none);
    for (const auto& [rank, slot] : fixed) {
        if (rank.value >= rank_count)
            fail("rank ", rank.value, " cannot be fixed; ranks are 0 to ", rank_count - 1);
        if (slots_[rank.value] != Slot::none) fail("rank ", rank.value, " is fixed twice");
        slots_[rank.value] = slot;
        ranks_.push_back(rank);
    }
    std::ranges::sort(ranks_);
}

}  // namespace topoloom
