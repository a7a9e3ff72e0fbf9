// SPDX-License-Identifier: BSD-3-Clause
// A placement under local search: where every rank is, what its messages cost there, and what a change would gain.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// For every slot of an allocation, by its position there, its point in a space.
template <class Space>
[[nodiscard]] std::vector<typename Space::Point> slot_points(const Space& space,
                                                             const Allocation& allocation) {
    std::vector<typename Space::Point> points;
    points.reserve(allocation.slot_count());
    for (const Slot slot : allocation.slots()) points.push_back(space.point(slot));
    return points;
}

/// For every rank of a placement the position of its slot in the allocation.
[[nodiscard]] inline std::vector<Position> positions_of(const Allocation& allocation,
                                                        std::span<const Slot> slot_of_rank) {
    std::vector<Position> position_of_slot(allocation.machine().slot_count());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i)
        position_of_slot[allocation.slots()[i].value] = Position{i};
    std::vector<Position> positions;
    positions.reserve(slot_of_rank.size());
    for (const Slot slot : slot_of_rank) positions.push_back(position_of_slot[slot.value]);
    return positions;
}

/// The inverse of positions_of().
[[nodiscard]] inline Placement placement_at(const Allocation& allocation,
                                            std::span<const Position> position_of_rank,
                                            SlotUse use = SlotUse::one_rank) {
    std::vector<Slot> slots;
    slots.reserve(position_of_rank.size());
    for (const Position position : position_of_rank) slots.push_back(allocation.slots()[position.value]);
    return {allocation, std::move(slots), use};
}

/// One rank on a slot; slots are named by their position in the allocation. `Graph` is symmetric, so that each pair of
/// ranks counts in both its rows. The cost of each rank is kept: to ask for a gain costs O(degree), to make the change
/// twice that. All values are exact, so exchanging again, or moving back, restores the state bit for bit.
template <class Space, class Graph = CommGraph>
class Arrangement {
   public:
    using Point = typename Space::Point;
    /// Refers to its arguments but the last. `slots` are the points of all slots: slot_points().
    Arrangement(const Space& space, std::span<const Point> slots, const Graph& symmetric,
                std::vector<Position> position_of_rank)
        : space_(space), graph_(symmetric), slots_(slots), position_(std::move(position_of_rank)) {
        occupant_.assign(slots.size(), Rank::none);
        for (const Rank u : ids<Rank>(position_.size())) {
            occupant_[position_[u.value].value] = u;
            points_.push_back(slots[position_[u.value].value]);
        }
        for (const Rank u : ids<Rank>(position_.size())) cost_.push_back(cost_at(u, points_[u.value]));
    }

    [[nodiscard]] const std::vector<Position>& positions() const { return position_; }
    [[nodiscard]] Position position(Rank u) const { return position_[u.value]; }
    [[nodiscard]] Rank occupant(Position position) const { return occupant_[position.value]; }
    [[nodiscard]] std::int64_t cost(Rank u) const { return cost_[u.value]; }
    /// Each pair of ranks once.
    [[nodiscard]] std::int64_t total() const {
        std::int64_t twice = 0;
        for (const std::int64_t cost : cost_) twice += cost;
        return twice / 2;
    }

    /// By how much exchanging u and v lowers the total; negative when it raises it. O(degree of u and v).
    [[nodiscard]] std::int64_t exchange_gain(Rank u, Rank v) {
        // Each sees the other where it would be: at their old distance.
        std::swap(points_[u.value], points_[v.value]);
        const std::int64_t after = cost_at(u, points_[u.value]) + cost_at(v, points_[v.value]);
        std::swap(points_[u.value], points_[v.value]);
        return cost_[u.value] + cost_[v.value] - after;
    }

    /// By how much moving u to the free slot at `position` lowers the total. O(degree of u).
    [[nodiscard]] std::int64_t move_gain(Rank u, Position position) const {
        return cost_[u.value] - cost_at(u, slots_[position.value]);
    }

    void exchange(Rank u, Rank v) {
        const Point from = points_[u.value];
        const Point to = points_[v.value];
        std::swap(position_[u.value], position_[v.value]);
        occupant_[position_[u.value].value] = u;
        occupant_[position_[v.value].value] = v;
        relocate(u, from, to);
        relocate(v, to, from);
    }
    void move(Rank u, Position position) {
        occupant_[position_[u.value].value] = Rank::none;
        occupant_[position.value] = u;
        position_[u.value] = position;
        relocate(u, points_[u.value], slots_[position.value]);
    }

   private:
    /// What the messages of u cost if it sits at `p` and all others stay.
    [[nodiscard]] std::int64_t cost_at(Rank u, const Point p) const {
        std::int64_t sum = 0;
        for (const auto edge : graph_.sends(u))
            sum += std::int64_t{edge.bytes.value} *
                   static_cast<std::int64_t>(space_.distance(p, points_[edge.peer.value]));
        return sum;
    }

    void relocate(Rank u, const Point from, const Point to) {
        std::int64_t cost = 0;
        for (const auto edge : graph_.sends(u)) {
            const Point peer = points_[edge.peer.value];
            const std::int64_t now = static_cast<std::int64_t>(space_.distance(to, peer));
            const std::int64_t before = static_cast<std::int64_t>(space_.distance(from, peer));
            cost_[edge.peer.value] += std::int64_t{edge.bytes.value} * (now - before);
            cost += std::int64_t{edge.bytes.value} * now;
        }
        points_[u.value] = to;
        cost_[u.value] = cost;
    }

    const Space& space_;
    const Graph& graph_;
    std::span<const Point> slots_;
    std::vector<Position> position_;
    std::vector<Rank> occupant_;  // by position
    std::vector<Point> points_;   // by rank
    std::vector<std::int64_t> cost_;
};

}  // namespace topoloom
