// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/local/resettle.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/free_slots.hpp"
#include "topoloom/place/state/migration_cost.hpp"
#include "topoloom/place/state/neighborhood.hpp"
#include "topoloom/place/state/wake_queue.hpp"

namespace topoloom::local {

namespace {

class MigrationAwareSearch {
   public:
    MigrationAwareSearch(Arrangement& state, const Problem& problem)
        : problem_(problem),
          graph_(problem.symmetric()),
          state_(state),
          neighborhood_(graph_, 2, 64),
          free_(problem.allocation()),
          home_(previous_positions(problem)),
          moving_(problem, state.sums_both_directions() ? 2 : 1),
          queue_(graph_) {
        for (const Position position : state_.positions()) free_.take(position);
    }

    void run(Meter& meter) {
        do {
            queue_.drain(meter, [&](Rank u) { visit_rank(u, meter); });
            if (released_) queue_.add_all();
        } while (std::exchange(released_, false) && !meter.is_exhausted());
    }

   private:
    void visit_rank(Rank u, Meter& meter) {
        if (state_.is_fixed(u)) return;
        try_position(u, home_[u.value], meter);
        for (const Rank v : neighborhood_.ranks_around(u)) {
            if (v != u) try_position(u, state_.position(v), meter);
            if (meter.is_exhausted()) return;
        }
        if (free_.count() == 0) return;
        partners_.clear();
        weights_.clear();
        const auto peers = graph_.peers(u);
        const auto bytes = graph_.bytes(u);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            partners_.push_back(state_.position(peers[i]));
            weights_.push_back(static_cast<std::uint64_t>(bytes[i].value));
        }
        FreeSlots::WeightedPartners partners{partners_, weights_};
        if (const auto origin = moving_.origin(u)) {  // migration cost acts like a partner at the old slot
            partners.origin = origin;
            partners.origin_weight = static_cast<std::uint64_t>(problem_.migration()->bytes_per_rank.value);
        }
        const auto found = free_.find_nearest(partners);
        meter.spend(found.evaluated);
        try_position(u, found.position, meter);
    }

    /// Moves u to a free position, or exchanges it with the occupant, if the cost falls.
    void try_position(Rank u, Position position, Meter& meter) {
        const Position old = state_.position(u);
        if (position == Position::none || position == old || !state_.is_available(position)) return;
        meter.spend(1);
        const Rank v = state_.occupant(position);
        const bool free = v == Rank::none;
        std::int64_t gain = moving_.at(u, old) - moving_.at(u, position);
        gain += free ? state_.move_gain(u, position)
                     : state_.exchange_gain(u, v) + moving_.at(v, position) - moving_.at(v, old);
        if (gain <= 0) return;
        if (free) {
            free_.take(position);
            free_.release(old);
            released_ = true;
            state_.move(u, position);
        } else {
            state_.exchange(u, v);
            queue_.add_with_partners(v);
        }
        queue_.add_with_partners(u);
    }

    const Problem& problem_;
    const CommGraph& graph_;
    Arrangement& state_;
    Neighborhood neighborhood_;
    FreeSlots free_;
    std::vector<Position> home_;
    MigrationCost moving_;
    WakeQueue queue_;
    bool released_ = false;  // whether slots became free since free slots were offered to all ranks
    std::vector<Position> partners_;
    std::vector<std::uint64_t> weights_;
};

/// Ranks without a slot, by descending bytes exchanged.
std::vector<Rank> list_unplaced_ranks(const Problem& problem, std::span<const Position> position) {
    std::vector<Rank> ranks;
    std::vector<std::int64_t> exchanged(position.size(), 0);
    for (const Rank u : ids<Rank>(position.size())) {
        if (position[u.value] == Position::none) ranks.push_back(u);
        for (const Bytes b : problem.symmetric().bytes(u)) exchanged[u.value] += b.value;
    }
    std::ranges::stable_sort(ranks, [&](Rank a, Rank b) { return exchanged[a.value] > exchanged[b.value]; });
    return ranks;
}

Placement place_previous_shared(const Problem& problem, std::vector<Position> position) {
    std::vector<std::int64_t> capacity = problem.spare_capacities();
    const auto mass = problem.capacity().masses();
    for (std::size_t u = 0; u < position.size(); ++u) {
        if (position[u] == Position::none || problem.fixed().contains(Rank{u})) continue;
        if (capacity[position[u].value] < mass[u])
            position[u] = Position::none;
        else
            capacity[position[u].value] -= mass[u];
    }
    for (const Rank u : list_unplaced_ranks(problem, position)) {
        const auto emptiest = std::ranges::max_element(capacity);
        if (*emptiest < mass[u.value])
            fail("rank ", u.value, " no longer fits on any slot; allow more imbalance or larger capacities");
        *emptiest -= mass[u.value];
        position[u.value] = Position{static_cast<std::size_t>(emptiest - capacity.begin())};
    }
    return placement_at(problem.allocation(), position, SlotUse::shared);
}

}  // namespace

Placement place_previous(const Problem& problem, Meter& meter) {
    if (problem.migration() == nullptr) fail("mapper 'previous' needs an earlier placement to start from");
    std::vector<Position> position = previous_positions(problem);
    for (const FixedPosition& fixed : list_fixed_positions(problem))
        position[fixed.rank.value] = fixed.position;
    if (!problem.capacity().one_rank_per_slot()) return place_previous_shared(problem, std::move(position));
    FreeSlots free(problem.allocation());
    std::vector<char> is_taken(problem.allocation().slot_count(), 0);
    for (const FixedPosition& fixed : list_fixed_positions(problem)) {
        free.take(fixed.position);
        is_taken[fixed.position.value] = 1;
    }
    for (const Rank u : ids<Rank>(position.size())) {
        Position& p = position[u.value];
        if (p == Position::none || problem.fixed().contains(u)) continue;
        // If ranks shared a slot before, only the first of them stays on it.
        if (is_taken[p.value] != 0)
            p = Position::none;
        else
            free.take(p), is_taken[p.value] = 1;
    }
    const CommGraph& graph = problem.symmetric();
    for (const Rank u : list_unplaced_ranks(problem, position)) {
        std::vector<Position> partners;
        std::vector<std::uint64_t> weights;
        for (const Edge edge : graph.sends(u)) {
            if (position[edge.peer.value] == Position::none) continue;
            partners.push_back(position[edge.peer.value]);
            weights.push_back(static_cast<std::uint64_t>(edge.bytes.value));
        }
        const auto found = free.find_nearest({partners, weights});
        meter.spend(found.evaluated);
        free.take(found.position);
        position[u.value] = found.position;
    }
    return placement_at(problem.allocation(), position);
}

Placement improve_by_resettling(const Problem& problem, Placement start, Meter& meter) {
    if (!charge_preparation(meter, problem)) return start;
    const Allocation& allocation = problem.allocation();
    with_arrangement(problem, start.slots(), [&](Arrangement& state) {
        MigrationAwareSearch(state, problem).run(meter);
        start = placement_at(allocation, state.positions());
    });
    return start;
}

MapperEntry previous_mapper() {
    return mapper_entry<place_previous>(
        {.name = "previous",
         .summary = "where the ranks were before; the others beside their partners",
         .needs = "earlier placement",
         .occupancy = Occupancy::both});
}

MapperEntry resettle_mapper() {
    return mapper_entry<improve_by_resettling>(
        {.name = "resettle",
         .summary = "exchanges that gain more than moving the ranks from where they were costs",
         .needs = "graph, distances, earlier placement",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::local
