// SPDX-License-Identifier: BSD-3-Clause
// A placement under local search: positions of ranks, cached costs, and gains of changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// By position in the allocation: the slot's point in a space.
template <class Space>
[[nodiscard]] std::vector<typename Space::Point> slot_points(const Space& space,
                                                             const Allocation& allocation) {
    std::vector<typename Space::Point> points;
    points.reserve(allocation.slot_count());
    for (const Slot slot : allocation.slots()) points.push_back(space.point(slot));
    return points;
}

/// By rank: the position of its slot in the allocation.
[[nodiscard]] inline std::vector<Position> rank_positions(const Allocation& allocation,
                                                          std::span<const Slot> slot_of_rank) {
    std::vector<Position> position_of_slot(allocation.machine().slot_count());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i)
        position_of_slot[allocation.slots()[i].value] = Position{i};
    std::vector<Position> positions;
    positions.reserve(slot_of_rank.size());
    for (const Slot slot : slot_of_rank) positions.push_back(position_of_slot[slot.value]);
    return positions;
}

/// The inverse of rank_positions().
[[nodiscard]] inline Placement placement_at(const Allocation& allocation,
                                            std::span<const Position> position_of_rank,
                                            SlotUse use = SlotUse::one_rank) {
    std::vector<Slot> slots;
    slots.reserve(position_of_rank.size());
    for (const Position position : position_of_rank) slots.push_back(allocation.slots()[position.value]);
    return {allocation, std::move(slots), use};
}

/// A placement that changes, with at most one rank per slot. Slots are identified by their position in the
/// allocation. Caches the cost of each rank: a gain costs O(degree), a change twice that. Values are exact,
/// so undoing a change restores the state bit for bit. SpaceArrangement implements this interface for each
/// space. A virtual call costs about as much as the gain of a rank with few partners, so use
/// find_first_gain() to try many ranks.
class Arrangement {
   public:
    virtual ~Arrangement() = default;

    [[nodiscard]] const std::vector<Position>& positions() const { return position_; }
    [[nodiscard]] Position position(Rank u) const { return position_[u.value]; }
    [[nodiscard]] Rank occupant(Position position) const { return occupant_[position.value]; }
    /// The hop-bytes of the graph, counting each pair of ranks once.
    [[nodiscard]] std::int64_t total() const {
        std::int64_t twice = 0;
        for (const std::int64_t cost : cost_) twice += cost;
        return twice / 2;
    }
    /// Whether distances are sums of both directions.
    [[nodiscard]] virtual bool sums_both_directions() const = 0;

    /// The decrease of the total if u and v are exchanged; negative if the total rises. O(degree of u and v).
    [[nodiscard]] virtual std::int64_t exchange_gain(Rank u, Rank v) = 0;
    /// The decrease of the total if u moves to the free slot at `position`. O(degree of u).
    [[nodiscard]] virtual std::int64_t move_gain(Rank u, Position position) const = 0;
    /// The index of the first candidate, from index `begin` on, whose exchange with u lowers the total;
    /// candidates.size() if there is none.
    [[nodiscard]] virtual std::size_t find_first_gain(Rank u, std::span<const Rank> candidates,
                                                      std::size_t begin) = 0;
    virtual void exchange(Rank u, Rank v) = 0;
    virtual void move(Rank u, Position position) = 0;

   protected:
    Arrangement(std::vector<Position> position_of_rank, std::size_t slots)
        : position_(std::move(position_of_rank)), occupant_(slots, Rank::none) {
        for (const Rank u : ids<Rank>(position_.size())) occupant_[position_[u.value].value] = u;
    }
    Arrangement(const Arrangement&) = default;
    Arrangement(Arrangement&&) = default;
    Arrangement& operator=(const Arrangement&) = delete;
    Arrangement& operator=(Arrangement&&) = delete;

    std::vector<Position> position_;
    std::vector<Rank> occupant_;  // by position
    std::vector<std::int64_t> cost_;
};

/// Calls use(arrangement) with an arrangement in the fastest space for this allocation. The graph must be
/// symmetric: every edge is in the rows of both ranks.
void with_arrangement(const Allocation& allocation, const CommGraph& symmetric,
                      std::vector<Position> position_of_rank, const std::function<void(Arrangement&)>& use);

}  // namespace topoloom
