// SPDX-License-Identifier: BSD-3-Clause
// Dual ascent for quadratic assignment: bounds that approach those of the level-1 linear relaxation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/qap/linear_assignment.hpp"

namespace topoloom::qap {

/// The cost of a placement as a bound, costs of ranks on slots and costs of pairs of ranks at pairs of slots, all of
/// them >= 0. A sweep moves costs between them so that the bound rises and the cost of no placement does (Hahn, Grant,
/// Operations Research 46, 1998). Only pairs that were added take part, so that sparse patterns are cheap: memory 4
/// bytes for every pair of ranks and ordered pair of slots.
class DualAscent {
   public:
    using Cost = std::int32_t;
    /// Larger costs count as this; less where a rank has too many partners for sums to fit.
    static constexpr Cost max_cost = 1 << 24;

    /// At least as many slots as ranks, and nothing costs anything yet; memory for `pairs` pairs of ranks.
    DualAscent(std::uint32_t ranks, std::uint32_t slots, std::size_t pairs);

    /// cost(j, l) for rank i on slot j and rank k on slot l. Every pair at most once.
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
    void add_single(std::uint32_t i, std::uint32_t j, std::int64_t cost) {
        Cost& single = singles_[i * slots_ + j];
        single = static_cast<Cost>(std::min<std::int64_t>(single + cost, max_cost));
    }

    /// The first one makes the bound that of Gilmore and Lawler or a better one. Ranks come one after the other, every
    /// other time backwards. The result does not depend on the threads.
    void sweep(int threads = 1);

    [[nodiscard]] std::int64_t bound() const { return bound_; }
    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
    [[nodiscard]] std::uint32_t slots() const { return slots_; }
    /// No placement with rank i on slot j costs less than bound() and this.
    [[nodiscard]] Cost single(std::uint32_t i, std::uint32_t j) const { return singles_[i * slots_ + j]; }
    /// Says that placements with rank i on slot j do not matter.
    void rule_out(std::uint32_t i, std::uint32_t j) { singles_[i * slots_ + j] = max_cost; }
    /// A better bound on placements with rank i on slot j. O(ranks^2 * slots).
    [[nodiscard]] std::int64_t bound_with(std::uint32_t i, std::uint32_t j);
    /// What is left when rank i is on slot j; ranks and slots behind them move up.
    [[nodiscard]] DualAscent with(std::uint32_t i, std::uint32_t j) const;

   private:
    struct Partner {
        std::uint32_t rank;
        std::uint32_t number;  // of this rank among its partners
        std::size_t block;     // of the pair
        bool first;            // rows of the block are slots of this rank, columns of the partner
    };
    struct Worker {
        LinearAssignment<Cost> assignment;
        std::vector<Cost> costs;
        std::vector<const Cost*> rows;
    };
    Cost* add_block(std::uint32_t i, std::uint32_t k);
    void visit(std::uint32_t i, bool forward, int workers);
    void take(std::uint32_t i, std::size_t p, bool with_singles);
    void give_back(std::uint32_t i, std::size_t p);
    void settle(std::uint32_t i, std::uint32_t j, bool forward, Worker& worker);
    void assign_singles();
    /// What a rank's cost on a slot adds to the costs of pairs with one of its partners.
    [[nodiscard]] Cost share(std::uint32_t i, std::uint32_t j, std::size_t partner) const;
    /// Costs of the other ranks at the other slots when rank i is on slot j, row-major.
    void singles_with(std::uint32_t i, std::uint32_t j, std::vector<Cost>& costs) const;

    std::uint32_t ranks_, slots_;
    std::int64_t bound_ = 0;
    bool forward_ = true;
    std::vector<Cost> singles_;
    std::vector<std::vector<Partner>> partners_;  // by rank
    std::vector<Cost> blocks_;
    /// Costs of one rank with its partners: by partner, own slot, slot of the partner.
    std::vector<Cost> cube_;
    std::vector<Worker> workers_;
    std::vector<Cost> scratch_;
};

/// Costs as integers that DualAscent can work with: times `factor`, or divided by `divisor` and rounded down.
struct CostScale {
    std::int64_t factor = 1;
    std::int64_t divisor = 1;
    /// For costs that add up to at most `total`, of ranks with up to `partners` partners.
    CostScale(std::int64_t total, std::size_t partners);
    [[nodiscard]] std::int64_t down(std::int64_t cost) const { return cost * factor / divisor; }
    /// What the cost is at least.
    [[nodiscard]] std::int64_t up(std::int64_t scaled) const {
        return (scaled + factor - 1) / factor * divisor;
    }
};

}  // namespace topoloom::qap
