// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/fixed_rank_repair.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "topoloom/place/shared/fitting.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/free_slots.hpp"

namespace topoloom::portfolio {

namespace {

/// Takes the ranks that are not fixed off the slots of fixed ranks. Returns them, by descending bytes.
std::vector<Rank> displace_ranks(const Problem& problem, std::vector<Position>& position) {
    std::vector<char> is_taken(problem.allocation().slot_count(), 0);
    for (const FixedPosition& fixed : list_fixed_positions(problem)) {
        position[fixed.rank.value] = fixed.position;
        is_taken[fixed.position.value] = 1;
    }
    std::vector<std::pair<std::int64_t, Rank>> displaced;
    for (const Rank u : ids<Rank>(position.size())) {
        if (is_taken[position[u.value].value] == 0 || problem.fixed().contains(u)) continue;
        position[u.value] = Position::none;
        std::int64_t bytes = 0;
        for (const Bytes of_edge : problem.symmetric().bytes(u)) bytes += of_edge.value;
        displaced.emplace_back(bytes, u);
    }
    std::ranges::stable_sort(displaced, std::greater<>{}, &std::pair<std::int64_t, Rank>::first);
    std::vector<Rank> ranks;
    for (const auto& [bytes, u] : displaced) ranks.push_back(u);
    return ranks;
}

Placement restore_on_own_slots(const Problem& problem, const Placement& placement) {
    const Allocation& allocation = problem.allocation();
    std::vector<Position> position = rank_positions(allocation, placement.slots());
    const std::vector<Rank> displaced = displace_ranks(problem, position);
    FreeSlots free(allocation);
    for (const Position p : position) {
        if (p != Position::none) free.take(p);
    }
    std::vector<Position> partners;
    std::vector<std::uint64_t> weights;
    for (const Rank u : displaced) {
        partners.clear();
        weights.clear();
        for (const Edge edge : problem.symmetric().sends(u)) {
            if (position[edge.peer.value] == Position::none) continue;
            partners.push_back(position[edge.peer.value]);
            weights.push_back(static_cast<std::uint64_t>(edge.bytes.value));
        }
        position[u.value] = free.find_nearest({partners, weights}).position;
        free.take(position[u.value]);
    }
    return placement_at(allocation, position);
}

}  // namespace

std::optional<Placement> restore_fixed_ranks(const Problem& problem, Placement placement) {
    const FixedRanks& fixed = problem.fixed();
    if (fixed.are_in_place(placement.slots())) return placement;
    if (problem.capacity().one_rank_per_slot()) return restore_on_own_slots(problem, placement);
    std::vector<Slot> slots(placement.slots().begin(), placement.slots().end());
    for (const Rank u : fixed.ranks()) slots[u.value] = fixed.slot(u);
    return shared::try_to_fit(problem, {problem.allocation(), std::move(slots), SlotUse::shared});
}

}  // namespace topoloom::portfolio
