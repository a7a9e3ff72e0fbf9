// SPDX-License-Identifier: BSD-3-Clause
// What a lower bound is asked for: all placements of these ranks on these slots.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The most ranks that slots can hold: as many of the lightest ones as fit.
[[nodiscard]] std::vector<std::uint32_t> max_ranks_on_slots(std::span<const std::int64_t> masses,
                                                            std::span<const std::int64_t> capacities);

/// Where the route back is longer or shorter than the route there, bounds on hop-bytes count the shorter one for both.
class BoundProblem {
   public:
    /// `capacity` says how many ranks each slot of the allocation can hold; empty: 1. Refers to graph and allocation,
    /// which must live longer. Throws Error for empty graphs, when the ranks do not fit, and where twice the
    /// hop-bytes could reach 2^62.
    BoundProblem(const CommGraph& graph, const Allocation& allocation,
                 std::vector<std::uint32_t> capacity = {}, int threads = 0);

    [[nodiscard]] const CommGraph& graph() const { return graph_; }
    /// Both directions of every pair together.
    [[nodiscard]] const CommGraph& symmetric() const { return symmetric_; }
    [[nodiscard]] const Allocation& allocation() const { return allocation_; }
    [[nodiscard]] const Machine& machine() const { return allocation_.machine(); }
    [[nodiscard]] std::size_t rank_count() const { return graph_.rank_count(); }
    [[nodiscard]] std::span<const std::uint32_t> capacity() const { return capacity_; }
    [[nodiscard]] std::uint64_t total_capacity() const { return total_capacity_; }
    [[nodiscard]] int threads() const { return threads_; }

   private:
    const CommGraph& graph_;
    const Allocation& allocation_;
    CommGraph symmetric_;
    std::vector<std::uint32_t> capacity_;
    std::uint64_t total_capacity_ = 0;
    int threads_;
};

/// What a bound that adds up bandwidths, prices or quotients is multiplied by, so that rounding leaves it a bound.
inline constexpr double rounding_margin = 1 - 1e-9;

/// Half of what bounds add up over the symmetric graph, where every pair counts twice; rounded up, as hop-bytes are
/// whole.
[[nodiscard]] inline std::int64_t half_of(std::int64_t both_ways) { return (both_ways + 1) / 2; }

}  // namespace topoloom
