// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/structure/balance_computes.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/migration_cost.hpp"
#include "topoloom/place/state/slot_tree.hpp"

namespace topoloom::structure {

namespace {

struct MaxCapacity {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::max(a, b); }
};

/// The best slot for a mass: in the brick the one with the most capacity, outside it the nearest one; then
/// the first in the allocation.
struct BestSlot {
    std::int64_t mass;
    std::uint64_t brick;  // the largest sum of distances inside the brick
    Position position = Position::none;
    std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
    std::int64_t capacity = 0;

    [[nodiscard]] bool is_candidate(std::int64_t spare) const { return spare >= mass; }
    [[nodiscard]] bool can_improve(std::int64_t spare, std::uint64_t bound) const {
        if (!is_candidate(spare)) return false;
        bound = std::max(bound, brick);
        return bound < cost || (bound == cost && (bound > brick || spare >= capacity));
    }
    void offer(Position at, std::int64_t spare, std::uint64_t sum) {
        sum = std::max(sum, brick);
        const bool is_better = sum != cost                         ? sum < cost
                               : sum == brick && spare != capacity ? spare > capacity
                                                                   : at.value < position.value;
        if (is_better) position = at, cost = sum, capacity = spare;
    }
};

class ComputeBalancer {
   public:
    ComputeBalancer(const Problem& problem, Meter& meter)
        : problem_(problem),
          meter_(meter),
          mass_(problem.capacity().masses()),
          present_(previous_positions(problem)),
          spare_(problem.allocation(),
                 [&](Position position) { return problem.capacity().capacities()[position.value]; }) {}

    [[nodiscard]] const std::vector<Position>& positions() const { return present_; }

    /// Returns the patch that found no slot, if any.
    std::optional<Rank> place_patches(const Patches& patches) {
        std::vector<Position> by_cell;
        for (std::size_t cell = 0; cell < patches.count(); ++cell) {
            const Rank patch = patches.patch_of_cell[cell];
            Position& at = present_[patch.value];
            if (at == Position::none) {
                if (by_cell.empty()) by_cell = halve_patches_and_slots(problem_, patches);
                at = by_cell[cell];
            }
            const std::optional<Position> found = find_slot(patch, std::span(&at, 1));
            if (!found) return patch;
            at = *found;
            add_load(patch);
        }
        return std::nullopt;
    }

    /// Moves the ranks from `first` on. Returns the compute that found no slot, if any.
    std::optional<Rank> move_computes(std::size_t first) {
        std::vector<Rank> waiting;
        for (std::size_t u = first; u < problem_.rank_count(); ++u) {
            if (present_[u] == Position::none)
                present_[u] = present_[problem_.symmetric().peers(Rank{u}).front().value];
            add_load(Rank{u});
            waiting.emplace_back(u);
        }
        std::ranges::stable_sort(waiting, std::greater<>{}, [&](Rank u) { return mass_[u.value]; });
        // In the second pass, all slots have lost their excess load.
        for (int pass = 0; pass < 2; ++pass) {
            std::vector<Rank> without_slot;
            for (const Rank u : waiting) {
                if (!move_compute(u)) without_slot.push_back(u);
            }
            waiting = std::move(without_slot);
        }
        return waiting.empty() ? std::nullopt : std::optional(waiting.front());
    }

   private:
    void add_load(Rank u, std::int64_t sign = 1) {
        const Position at = present_[u.value];
        spare_.set(at, spare_.value(at) - sign * mass_[u.value]);
    }

    /// Returns whether a slot had room.
    bool move_compute(Rank u) {
        add_load(u, -1);
        std::vector<Position> homes;
        for (const Rank patch : problem_.symmetric().peers(u)) homes.push_back(present_[patch.value]);
        const std::optional<Position> found = find_slot(u, homes);
        if (found) present_[u.value] = *found;
        add_load(u);
        return found.has_value();
    }

    /// If the budget is spent, all slots count as part of the brick.
    std::optional<Position> find_slot(Rank u, std::span<const Position> homes) {
        const std::vector<std::uint64_t> weights(homes.size(), 1);
        const auto sum = spare_.sum_distances(homes, weights);
        BestSlot best{mass_[u.value], std::numeric_limits<std::uint64_t>::max() - 1};
        if (!meter_.is_exhausted()) {
            for (const Position home : homes) best.brick = std::min(best.brick, spare_.cost(*sum, home));
        }
        meter_.spend(spare_.search(*sum, best));
        return best.position == Position::none ? std::nullopt : std::optional(best.position);
    }

    const Problem& problem_;
    Meter& meter_;
    std::span<const std::int64_t> mass_;
    std::vector<Position> present_;  // by rank
    SlotTree<std::int64_t, MaxCapacity> spare_;
};

}  // namespace

std::variant<Placement, Rank> balance_computes(const Problem& problem, const Patches& patches, Meter& meter) {
    ComputeBalancer balancer(problem, meter);
    if (const auto patch = balancer.place_patches(patches)) return *patch;
    if (const auto compute = balancer.move_computes(patches.count())) return *compute;
    const SlotUse use = problem.capacity().one_rank_per_slot() ? SlotUse::one_rank : SlotUse::shared;
    return placement_at(problem.allocation(), balancer.positions(), use);
}

}  // namespace topoloom::structure
