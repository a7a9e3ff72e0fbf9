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
#include "topoloom/place/problem.hpp"

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

/// A fixed rank and the position of its slot in the allocation.
struct FixedPosition {
    Rank rank;
    Position position;
};
[[nodiscard]] inline std::vector<FixedPosition> list_fixed_positions(const Problem& problem) {
    const FixedRanks& fixed = problem.fixed();
    std::vector<FixedPosition> list;
    if (fixed.empty()) return list;
    std::vector<Slot> slots;
    for (const Rank u : fixed.ranks()) slots.push_back(fixed.slot(u));
    const std::vector<Position> positions = rank_positions(problem.allocation(), slots);
    for (std::size_t i = 0; i < positions.size(); ++i) list.push_back({fixed.ranks()[i], positions[i]});
    return list;
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
        std::uint64_t twice = fixed_count_ * static_cast<std::uint64_t>(fixed_gain);
        for (const std::int64_t cost : cost_) twice += static_cast<std::uint64_t>(cost);
        return static_cast<std::int64_t>(twice) / 2;
    }
    /// Fixes a rank to its slot: every change that moves it is then a loss greater than any gain, so that
    /// searches need no test of their own.
    void fix(Rank u) {
        cost_[u.value] -= fixed_gain;
        ++fixed_count_;
    }
    [[nodiscard]] bool is_fixed(Rank u) const { return cost_[u.value] < -fixed_gain / 2; }
    /// Whether the slot is free or its rank may leave it.
    [[nodiscard]] bool is_available(Position position) const {
        const Rank u = occupant(position);
        return u == Rank::none || !is_fixed(u);
    }
    /// Whether a gain is that of a change that moves a fixed rank.
    [[nodiscard]] static bool is_forbidden(std::int64_t gain) { return gain < -fixed_gain / 2; }
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
    /// What staying gains a fixed rank. Exceeds all gains of a rank, see Problem::with_fixed().
    static constexpr std::int64_t fixed_gain = std::int64_t{1} << 60;

    Arrangement(std::vector<Position> position_of_rank, std::size_t slots)
        : position_(std::move(position_of_rank)), occupant_(slots, Rank::none) {
        for (const Rank u : ids<Rank>(position_.size())) occupant_[position_[u.value].value] = u;
    }
    Arrangement(const Arrangement&) = default;
    Arrangement(Arrangement&&) = default;
    Arrangement& operator=(const Arrangement&) = delete;
    Arrangement& operator=(Arrangement&&) = delete;

    std::vector<Position> position_;
    std::vector<Rank> occupant_;      // by position
    std::vector<std::int64_t> cost_;  // by rank; less `fixed_gain` if the rank is fixed
    std::uint64_t fixed_count_ = 0;
};

/// Calls use(arrangement) with a placement of the problem's symmetric graph, in the fastest space for its
/// allocation. Fixed ranks must be on their slots.
void with_arrangement(const Problem& problem, std::span<const Slot> slot_of_rank,
                      const std::function<void(Arrangement&)>& use);

}  // namespace topoloom
