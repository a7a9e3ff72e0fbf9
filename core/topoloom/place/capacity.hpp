// SPDX-License-Identifier: BSD-3-Clause
// Capacities of slots: one rank, or, with more ranks than slots, a load.
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
    /// The load that each slot of the allocation may hold, however many ranks that is; empty: equal shares.
    std::vector<double> capacity = {};
};

/// Masses of ranks and capacities of slots as integers, so that "fits" is exact. Integer loads are kept; others are
/// scaled so that a slot's ranks exceed its capacity by less than one part in 10^9. A slot that would hold all ranks
/// holds no more than that.
class Capacity {
   public:
    /// Throws Error when there are no ranks, when they cannot fit, and for an imbalance or
    /// capacities that are not finite and >= 0 or not one per slot.
    Capacity(const CommGraph& graph, const Allocation& allocation, const Sharing& sharing);

    /// No slot takes more than one rank, whatever its load.
    [[nodiscard]] bool one_rank_per_slot() const { return one_rank_per_slot_; }
    [[nodiscard]] std::span<const std::int64_t> masses() const { return mass_; }          // by rank
    [[nodiscard]] std::span<const std::int64_t> capacities() const { return capacity_; }  // by position

   private:
    bool one_rank_per_slot_;
    std::vector<std::int64_t> mass_;
    std::vector<std::int64_t> capacity_;
};

}  // namespace topoloom
