// SPDX-License-Identifier: BSD-3-Clause
// Finds the best slot with enough spare capacity for a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/place/state/slot_tree.hpp"

namespace topoloom::structure {

/// Spare capacities of slots, which are identified by their position in the allocation. take() costs O(log
/// slots).
class SpareSlots {
   public:
    struct Found {
        Position position;
        std::uint64_t cost;
        std::int64_t capacity;
    };

    /// `capacity` has one entry per slot of the allocation.
    SpareSlots(const Allocation& allocation, std::span<const std::int64_t> capacity)
        : tree_(allocation, [&](Position position) { return capacity[position.value]; }) {}

    /// The sum of distances to these slots, equally weighted.
    [[nodiscard]] std::unique_ptr<SlotSpace::DistanceSum> sum_distances(
        std::span<const Position> positions) const {
        return tree_.sum_distances(positions, std::vector<std::uint64_t>(positions.size(), 1));
    }
    void take(Position position, std::int64_t mass) { tree_.set(position, tree_.value(position) - mass); }

    /// The slot with the smallest sum.at(point) and enough capacity for the mass; ties go to the slot with
    /// the most capacity, then to the first one found. None if no slot has the capacity. Adds the slots and
    /// parts visited to `evaluated`.
    [[nodiscard]] std::optional<Found> find_nearest(const SlotSpace::DistanceSum& sum, std::int64_t mass,
                                                    std::uint64_t& evaluated) const {
        Best best{mass, {Position::none, std::numeric_limits<std::uint64_t>::max(), 0}};
        evaluated += tree_.search(sum, best);
        if (best.found.position == Position::none) return std::nullopt;
        return best.found;
    }

   private:
    /// Joins the spare capacities of two parts: a part stores the maximum over its slots.
    struct MaxCapacity {
        std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::max(a, b); }
    };
    struct Best {
        std::int64_t mass;
        Found found;

        [[nodiscard]] bool is_candidate(std::int64_t capacity) const { return capacity >= mass; }
        [[nodiscard]] bool can_improve(std::int64_t capacity, std::uint64_t bound) const {
            return is_candidate(capacity) &&
                   (bound < found.cost || (bound == found.cost && capacity > found.capacity));
        }
        void offer(Position position, std::int64_t capacity, std::uint64_t cost) {
            if (can_improve(capacity, cost)) found = {position, cost, capacity};
        }
    };

    SlotTree<std::int64_t, MaxCapacity> tree_;
};

}  // namespace topoloom::structure
