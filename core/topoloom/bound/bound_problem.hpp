// SPDX-License-Identifier: BSD-3-Clause
// The input of a lower bound: all placements of given ranks on given slots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// For each slot, the maximum number of ranks that fit on it: the lightest ranks.
[[nodiscard]] std::vector<std::uint32_t> max_ranks_on_slots(std::span<const std::int64_t> masses,
                                                            std::span<const std::int64_t> capacities);

/// If the distances between two slots differ by direction, bounds on hop-bytes use the shorter one for both.
class BoundProblem {
   public:
    /// `capacity`: maximum number of ranks on each slot of the allocation; empty: 1 each. Keeps references to
    /// graph and allocation. Throws Error for empty graphs, if the ranks do not fit, and if twice the
    /// hop-bytes could reach 2^62.
    BoundProblem(const CommGraph& graph, const Allocation& allocation,
                 std::vector<std::uint32_t> capacity = {}, int threads = 0);

    [[nodiscard]] const CommGraph& graph() const { return graph_; }
    /// The symmetric graph: each pair has the bytes of both directions.
    [[nodiscard]] const CommGraph& symmetric() const { return symmetric_; }
    [[nodiscard]] const Allocation& allocation() const { return allocation_; }
    [[nodiscard]] const Machine& machine() const { return allocation_.machine(); }
    [[nodiscard]] std::size_t rank_count() const { return graph_.rank_count(); }
    [[nodiscard]] std::span<const std::uint32_t> capacity() const { return capacity_; }
    [[nodiscard]] std::uint64_t total_capacity() const { return total_capacity_; }
    [[nodiscard]] int threads() const { return threads_; }
    /// A copy with the bytes of other jobs on each link, to which the copy refers. They raise bounds on
    /// congestion and time. Throws Error for an invalid background, see max_background().
    [[nodiscard]] BoundProblem with_background(std::span<const double> background) const;
    [[nodiscard]] std::span<const double> background() const { return background_; }
    /// [s]: minimum bytes, in both directions, that leave a part of the allocation with capacity s, however
    /// many ranks are in the part. Computed by the first call, which other threads may not overlap.
    [[nodiscard]] std::span<const std::int64_t> min_leaving_bytes() const;
    /// Raises min_leaving_bytes() by spectral_cuts() and flow_cuts(), unless the pattern's cuts are sharp.
    /// Spends a part of the budget.
    void raise_cuts(Meter& meter);
    /// The same problem on other slots in the same order.
    [[nodiscard]] BoundProblem on(const Allocation& allocation) const {
        return BoundProblem(*this, allocation);
    }

   private:
    BoundProblem(const BoundProblem& other, const Allocation& allocation);

    const CommGraph& graph_;
    const Allocation& allocation_;
    CommGraph symmetric_;
    std::vector<std::uint32_t> capacity_;
    std::uint64_t total_capacity_ = 0;
    int threads_;
    std::span<const double> background_;
    std::vector<std::int64_t> raised_cuts_;  // by number of ranks
    mutable std::shared_ptr<const std::vector<std::int64_t>> min_leaving_bytes_;
};

/// Factor on floating-point bounds that makes them valid in spite of rounding.
inline constexpr double rounding_margin = 1 - 1e-9;

/// Halves a bound for the symmetric graph, in which every pair counts twice. Rounded up because hop-bytes are
/// integers.
[[nodiscard]] inline std::int64_t halve_symmetric_bound(std::int64_t both_ways) {
    return (both_ways + 1) / 2;
}

}  // namespace topoloom
