// SPDX-License-Identifier: BSD-3-Clause
// Dual ascent for quadratic assignment: bounds that approach the level-1 RLT relaxation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/qap/linear_assignment.hpp"

namespace topoloom::qap {

/// Splits the cost of a placement into a bound, costs of ranks on slots, and costs of rank pairs on slot
/// pairs, all >= 0. A sweep moves costs between these three such that the bound rises and no placement
/// becomes more expensive (Hahn, Grant, Operations Research 46, 1998). Only added pairs are stored, so sparse
/// patterns are cheap: 4 bytes per rank pair and ordered slot pair.
class DualAscent {
   public:
    using Cost = std::int32_t;
    /// Saturation limit of costs. CostScale lowers it if a rank has so many partners that sums could
    /// overflow.
    static constexpr Cost max_cost = 1 << 24;

    /// All costs are initially 0. Requires at least as many slots as ranks. Reserves memory for `pairs` rank
    /// pairs.
    DualAscent(std::uint32_t ranks, std::uint32_t slots, std::size_t pairs);

    /// Adds cost(j, l) for rank i on slot j and rank k on slot l. Call at most once per pair.
    template <class PairCost>
    void add_pair(std::uint32_t i, std::uint32_t k, const PairCost& cost) {
        Cost* const block = add_block(i, k);
        for (std::uint32_t j = 0; j < slots_; ++j) {
            for (std::uint32_t l = 0; l < slots_; ++l) {
                if (j != l)
                    block[std::size_t{j} * slots_ + l] =
                        static_cast<Cost>(std::min<std::int64_t>(cost(j, l), max_cost));
            }
        }
    }
    void add_rank_cost(std::uint32_t i, std::uint32_t j, std::int64_t cost) {
        Cost& single = singles_[i * slots_ + j];
        single = static_cast<Cost>(std::min<std::int64_t>(single + cost, max_cost));
    }

    /// Raises the bound. The first sweep yields at least the Gilmore-Lawler bound. Sweeps process the ranks
    /// alternately in ascending and in descending order. The result does not depend on the number of threads.
    void sweep(int threads = 1);

    [[nodiscard]] std::int64_t bound() const { return bound_; }
    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
    [[nodiscard]] std::uint32_t slots() const { return slots_; }
    /// Reduced cost: a placement with rank i on slot j costs at least bound() plus this cost.
    [[nodiscard]] Cost reduced_cost(std::uint32_t i, std::uint32_t j) const {
        return singles_[i * slots_ + j];
    }
    /// Excludes placements with rank i on slot j.
    void rule_out(std::uint32_t i, std::uint32_t j) { singles_[i * slots_ + j] = max_cost; }
    /// Returns a tighter bound on placements with rank i on slot j. O(ranks^2 * slots).
    [[nodiscard]] std::int64_t bound_with_fixed(std::uint32_t i, std::uint32_t j);
    /// Returns the subproblem with rank i fixed on slot j. Higher ranks and slots are renumbered.
    [[nodiscard]] DualAscent fix_rank(std::uint32_t i, std::uint32_t j) const;

   private:
    struct Partner {
        std::uint32_t rank;
        std::uint32_t number;  // index of this rank among the partner's partners
        std::size_t block;     // begin of the pair's costs in blocks_
        bool first;            // rows of the block are slots of this rank, columns are slots of the partner
    };
    struct Worker {
        LinearAssignment<Cost> assignment;
        std::vector<Cost> costs;
        std::vector<const Cost*> rows;
    };
    Cost* add_block(std::uint32_t i, std::uint32_t k);
    void process_rank(std::uint32_t i, bool forward, int workers);
    void load_costs(std::uint32_t i, std::size_t p, bool with_singles);
    void store_costs(std::uint32_t i, std::size_t p);
    void raise_reduced_cost(std::uint32_t i, std::uint32_t j, bool forward, Worker& worker);
    void assign_singles();
    /// The share of a rank's reduced cost that is moved to its pairs with one partner.
    [[nodiscard]] Cost split_reduced_cost(std::uint32_t i, std::uint32_t j, std::size_t partner) const;
    /// Given that rank i is on slot j, computes the reduced costs of the other ranks on the other slots,
    /// row-major.
    void compute_reduced_costs_with(std::uint32_t i, std::uint32_t j, std::vector<Cost>& costs) const;

    std::uint32_t ranks_, slots_;
    std::int64_t bound_ = 0;
    bool forward_ = true;
    std::vector<Cost> singles_;
    std::vector<std::vector<Partner>> partners_;  // by rank
    std::vector<Cost> blocks_;
    /// Costs of one rank with its partners: [partner][own slot][slot of the partner].
    std::vector<Cost> cube_;
    std::vector<Worker> workers_;
    std::vector<Cost> scratch_;
};

/// Scales costs to the integer range of DualAscent: times `factor`, or divided by `divisor` and rounded down.
struct CostScale {
    std::int64_t factor = 1;
    std::int64_t divisor = 1;
    /// Chooses the scale for costs whose sum is at most `total`, and ranks with at most `partners` partners.
    CostScale(std::int64_t total, std::size_t partners);
    [[nodiscard]] std::int64_t down(std::int64_t cost) const { return cost * factor / divisor; }
    /// Returns the least cost that down() scales to at least `scaled`.
    [[nodiscard]] std::int64_t up(std::int64_t scaled) const {
        return (scaled + factor - 1) / factor * divisor;
    }
};

}  // namespace topoloom::qap
