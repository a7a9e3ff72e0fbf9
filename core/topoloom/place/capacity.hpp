// SPDX-License-Identifier: BSD-3-Clause
// Capacities of slots: one rank per slot, or a load per slot if ranks outnumber slots.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// How ranks may share slots. Default: one rank per slot.
struct Sharing {
    /// If ranks outnumber slots, a slot may hold (1 + imbalance) times its share of the load.
    std::optional<double> imbalance = std::nullopt;
    /// Maximum load per slot of the allocation, for any number of ranks; empty: equal shares.
    std::vector<double> capacity = {};
};

/// Masses of ranks and capacities of slots as integers, so that "fits" is exact. Integer loads stay
/// unchanged; other loads are scaled so that a slot's ranks exceed its capacity by less than one part in
/// 10^9. No capacity exceeds the load of all ranks.
class Capacity {
   public:
    /// Throws Error if there are no ranks or they cannot fit, for negative or infinite imbalances and
    /// capacities, and unless there is one capacity per slot.
    Capacity(const CommGraph& graph, const Allocation& allocation, const Sharing& sharing);

    /// Whether each slot takes at most one rank, regardless of load.
    [[nodiscard]] bool one_rank_per_slot() const { return one_rank_per_slot_; }
    [[nodiscard]] std::span<const std::int64_t> masses() const { return mass_; }          // by rank
    [[nodiscard]] std::span<const std::int64_t> capacities() const { return capacity_; }  // by position

   private:
    bool one_rank_per_slot_;
    std::vector<std::int64_t> mass_;
    std::vector<std::int64_t> capacity_;
};

}  // namespace topoloom
