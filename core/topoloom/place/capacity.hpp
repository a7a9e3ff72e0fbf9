// SPDX-License-Identifier: BSD-3-Clause
// Capacities of slots: one rank each, or a maximum load each if ranks outnumber slots.
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
    /// If ranks outnumber slots, a slot may hold up to (1 + imbalance) times an equal share of the load.
    std::optional<double> imbalance = std::nullopt;
    /// Maximum load of each slot of the allocation, whatever the number of ranks; empty: equal shares.
    std::vector<double> capacity = {};
};

/// Masses of ranks and capacities of slots as integers, so that checks whether ranks fit are exact. Integer
/// loads stay unchanged. Other loads are scaled and rounded; ranks that are accepted exceed a slot's capacity
/// by less than one part in 10^9. No capacity exceeds the load of all ranks.
class Capacity {
   public:
    /// Throws Error if there are no ranks, or they cannot fit, or the imbalance or a capacity is negative or
    /// infinite. Also throws Error unless there is one capacity per slot.
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
