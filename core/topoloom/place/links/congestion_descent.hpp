// SPDX-License-Identifier: BSD-3-Clause
// Descent on congestion that accepts the first improvement and starts at the busiest links.
#pragma once

#include <algorithm>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/metric/loads/load_tracker.hpp"
#include "topoloom/place/state/free_slot_groups.hpp"

namespace topoloom::links {

/// Requires at most one rank per slot.
class CongestionDescent {
   public:
    CongestionDescent(LoadTracker& loads, const Allocation& allocation)
        : loads_(loads), free_(allocation, loads.slots()) {
        for (const Rank u : ids<Rank>(loads.rank_count())) next_.push_back(u.value);
    }

    /// Exchanges and moves endpoints of messages on the busiest links until none of this helps or the budget
    /// is spent.
    void run(Meter& meter) {
        // Includes endpoints on links that are nearly the busiest: these become the busiest next, and
        // collecting endpoints is expensive.
        constexpr double share = 0.9;
        constexpr std::size_t few = 32;
        // Starts with few partners per rank, because trying all of them is needed only if no exchange with
        // these helps.
        std::size_t partners = few;
        while (true) {
            const std::size_t all = next_.size() + free_.size();
            bool improved = false;
            for (const Rank u : loads_.ranks_on_busy_links(share)) {
                if (loads_.is_on_busiest_link(u) && improve_rank(u, std::min(partners, all), meter))
                    improved = true;
                if (meter.is_exhausted()) return;
            }
            if (!improved && partners >= all) return;
            partners = improved ? few : 4 * partners;
        }
    }

   private:
    /// Tries to exchange u with the next `partners` ranks and groups of free slots, until u leaves the
    /// busiest links.
    bool improve_rank(Rank u, std::size_t partners, Meter& meter) {
        if (loads_.is_fixed(u)) return false;
        bool improved = false;
        for (; partners > 0 && meter.spend(1); --partners) {
            next_[u.value] = (next_[u.value] + 1) % (next_.size() + free_.size());
            if (!try_partner(u, next_[u.value])) continue;
            improved = true;
            if (!loads_.is_on_busiest_link(u)) break;
        }
        return improved;
    }
    bool try_partner(Rank u, std::size_t partner) {
        if (partner < next_.size()) {
            const Rank v{static_cast<std::uint32_t>(partner)};
            return u != v && loads_.exchange_if_better(u, v);
        }
        const std::size_t run = partner - next_.size();
        const Slot from = loads_.slot(u);
        if (!loads_.move_if_better(u, free_.slot(run))) return false;
        free_.exchange(run, from);
        return true;
    }

    LoadTracker& loads_;
    FreeSlotGroups free_;
    std::vector<std::size_t> next_;  // by rank: its last partner, a rank or rank_count + group of free slots
};

}  // namespace topoloom::links
