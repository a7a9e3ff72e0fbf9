// SPDX-License-Identifier: BSD-3-Clause
// Single-threaded branch and bound below a partial placement.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/qap/dual_ascent.hpp"
#include "topoloom/qap/exact/slot_symmetry.hpp"
#include "topoloom/qap/quadratic_assignment.hpp"

namespace topoloom::qap {

/// A partial placement and the remaining subproblem.
struct PartialPlacement {
    DualAscent costs;
    std::vector<Rank> ranks;      // unplaced ranks, indexed as in `costs`
    std::vector<Position> slots;  // free slots, indexed as in `costs`
    std::vector<Position> position_of_rank;
    bool symmetric;  // whether free slots can be equivalent
};

struct Branch {
    std::uint32_t rank, slot;  // indices in `costs`
    std::int64_t bound;
};

struct Incumbent {
    std::int64_t value;
    std::vector<Position> position_of_rank;
};

/// Read-only data shared by all searches.
class SearchContext {
   public:
    SearchContext(const QuadraticAssignment& assignment, std::int64_t value_at_start);

    /// The largest scaled bound at which a better placement is still possible.
    [[nodiscard]] std::int64_t largest_bound_of_better(std::int64_t best) const {
        const std::int64_t better = best - granularity_;
        return better < 0 ? -1 : scale.down(better);
    }
    [[nodiscard]] PartialPlacement root() const;

    const QuadraticAssignment& problem;
    const SlotSymmetry symmetry;
    const CostScale scale;

   private:
    [[nodiscard]] bool has_partners(std::size_t i) const;
    std::int64_t granularity_;
};

/// Searches for placements better than the incumbent, on one thread.
class PlacementSearch {
   public:
    PlacementSearch(const SearchContext& context, Incumbent best, Meter& meter)
        : context_(context), problem_(context.problem), best_(std::move(best)), meter_(meter) {}

    [[nodiscard]] const Incumbent& best() const { return best_; }
    /// Lower bound on the values of better placements that were not visited.
    [[nodiscard]] std::int64_t open_bound() const { return open_; }
    [[nodiscard]] std::uint64_t visited_count() const { return nodes_; }

    void search_below(PartialPlacement& partial);
    /// Computes the bound of a partial placement. Returns its branches, or an empty list if it cannot improve
    /// on the incumbent.
    std::vector<Branch> expand(PartialPlacement& partial);
    static PartialPlacement apply_branch(const PartialPlacement& partial, const Branch& branch);

   private:
    [[nodiscard]] std::int64_t largest_bound_of_better() const {
        return context_.largest_bound_of_better(best_.value);
    }

    void rule_out(DualAscent& costs) const;
    /// Branches over the rank or slot with the fewest remaining choices.
    std::vector<Branch> list_branches(PartialPlacement& partial) const;
    /// Marks the first of each class of equivalent free slots; returns false if none are equivalent.
    bool mark_representatives(const PartialPlacement& partial, std::vector<char>& only) const;
    void record_open_bound(std::int64_t bound) { open_ = std::min(open_, context_.scale.up(bound)); }

    /// Completes a placement: assigns the last rank with partners to its best slot, and ranks without
    /// partners to the remaining slots.
    void complete_placement(const PartialPlacement& partial);

    const SearchContext& context_;
    const QuadraticAssignment& problem_;
    Incumbent best_;
    Meter& meter_;
    std::int64_t open_ = std::numeric_limits<std::int64_t>::max();
    std::uint64_t nodes_ = 0;
};

}  // namespace topoloom::qap
