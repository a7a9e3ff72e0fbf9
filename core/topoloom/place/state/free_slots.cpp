// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/free_slots.hpp"

namespace topoloom {

namespace {

struct Best {
    FreeSlots::Found found;

    [[nodiscard]] static bool is_candidate(Position first) { return first != Position::none; }
    [[nodiscard]] bool can_improve(Position first, std::uint64_t bound) const {
        return is_candidate(first) && (bound < found.cost || (bound == found.cost && first < found.position));
    }
    void offer(Position position, Position, std::uint64_t cost) {
        if (!can_improve(position, cost)) return;
        found.position = position;
        found.cost = cost;
    }
};

}  // namespace

FreeSlots::FreeSlots(const Allocation& allocation)
    : tree_(allocation, [](Position position) { return position; }), free_(allocation.slot_count()) {}

FreeSlots::Found FreeSlots::find_nearest(const WeightedPartners& partners) const {
    std::optional<SlotSpace::WeightedSlot> origin;
    if (partners.origin) origin = {*partners.origin, partners.origin_weight};
    Best best;
    best.found.evaluated =
        tree_.search(*tree_.sum_distances(partners.positions, partners.weights, origin), best);
    return best.found;
}

}  // namespace topoloom
