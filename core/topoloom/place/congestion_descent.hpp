// SPDX-License-Identifier: BSD-3-Clause
// First improvement under congestion, from the busiest links down.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "topoloom/machine/allocation.hpp"
#include "topoloom/metric/link_loads.hpp"

namespace topoloom {

/// The slots of an allocation that no rank of `loads` sits on.
template <class Loads>
[[nodiscard]] std::vector<Slot> free_slots_of(const Loads& loads, const Allocation& allocation) {
    std::vector<char> taken(allocation.machine().slot_count(), 0);
    for (const Slot slot : loads.slots()) taken[slot.value] = 1;
    std::vector<Slot> free;
    std::ranges::copy_if(allocation.slots(), std::back_inserter(free),
                         [&](Slot slot) { return taken[slot.value] == 0; });
    return free;
}

/// One rank on a slot.
template <class Loads>
class CongestionDescent {
   public:
    CongestionDescent(Loads& loads, const Allocation& allocation)
        : loads_(loads), free_(free_slots_of(loads, allocation)) {}

    /// Until no exchange or move of an end of a message over one of the busiest links helps, or the budget is spent.
    void run(Meter& meter) {
        // The ends of messages over nearly as busy links, too: those are the busiest next, and to find them takes time.
        constexpr double share = 0.9;
        bool improved = true;
        while (std::exchange(improved, false)) {
            for (const Rank u : loads_.ends_of_busy(share)) {
                if (loads_.is_at_maximum(u) && improve(u, meter)) improved = true;
                if (meter.exhausted()) return;
            }
        }
    }

   private:
    bool improve(Rank u, Meter& meter) {
        bool improved = false;
        const auto after_change = [&] {
            improved = true;
            return loads_.is_at_maximum(u);
        };
        for (Slot& to : free_) {
            if (!meter.spend(1)) return improved;
            const Slot from = loads_.slot(u);
            if (!loads_.move_if_better(u, to)) continue;
            to = from;
            if (!after_change()) return true;
        }
        const auto ranks = static_cast<std::uint32_t>(loads_.rank_count());
        for (std::uint32_t i = 1; i < ranks; ++i) {
            if (!meter.spend(1)) return improved;
            const Rank v{(u.value + i) % ranks};
            if (loads_.exchange_if_better(u, v) && !after_change()) return true;
        }
        return improved;
    }

    Loads& loads_;
    std::vector<Slot> free_;
};

}  // namespace topoloom
