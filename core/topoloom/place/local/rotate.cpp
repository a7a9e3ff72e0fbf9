// SPDX-License-Identifier: BSD-3-Clause
// Cyclic exchanges of a few ranks, for placements that no pair exchange improves.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/place/local/ejection_path.hpp"
#include "topoloom/place/local/rotate_options.hpp"
#include "topoloom/place/local/rotate_routes.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/wake_queue.hpp"

namespace topoloom::local {

namespace {

class RotateSearch {
   public:
    RotateSearch(Arrangement& state, const NearLists& near, const CommGraph& symmetric,
                 const RotateOptions& options)
        : graph_(symmetric), near_(near), length_(options.length), state_(state), queue_(graph_) {}

    void run(Meter& meter) {
        queue_.drain(meter, [&](Rank u) {
            meter.spend(near_.take_work());
            visit_rank(u, meter);
        });
    }

   private:
    void visit_rank(Rank u, Meter& meter) {
        if (state_.is_fixed(u)) return;
        for (const Rank partner : graph_.peers(u)) {
            for (const Position to : near_.list_at(state_.position(partner))) {
                if (to == state_.position(u) || !state_.is_available(to)) continue;
                if (!meter.spend(1)) return;
                // Requires that the first rank gains, as Lin and Kernighan do; later steps may lose part of
                // this gain.
                if (state_.move_gain(u, to) <= 0) continue;
                if (try_cycle(u, to, meter)) queue_changed_ranks();
                if (meter.is_exhausted()) return;
            }
        }
    }

    /// Moves u, then each ejected rank in turn. Returns true as soon as the cycle gains; otherwise restores
    /// the state.
    bool try_cycle(Rank u, Position to, Meter& meter) {
        path_.clear();
        std::int64_t gain = perform_step(u, to);
        while (gain <= 0 && path_.last_ejected() != Rank::none && path_.length() + 1 < length_) {
            const Rank v = path_.last_ejected();
            const Position best = find_best_slot(v, meter);
            if (best == state_.position(v)) break;
            gain += perform_step(v, best);
        }
        if (gain > 0) return true;
        while (!path_.empty()) undo_step();
        return false;
    }

    /// Performs a step; returns its gain.
    std::int64_t perform_step(Rank u, Position to) {
        const Rank v = state_.occupant(to);
        path_.push({u, v, state_.position(u), to});
        if (v == Rank::none) {
            const std::int64_t gain = state_.move_gain(u, to);
            state_.move(u, to);
            return gain;
        }
        const std::int64_t gain = state_.exchange_gain(u, v);
        state_.exchange(u, v);
        return gain;
    }

    void undo_step() {
        const EjectionPath::Step last = path_.pop();
        if (last.ejected == Rank::none) {
            state_.move(last.rank, last.from);
        } else {
            state_.exchange(last.rank, last.ejected);
        }
    }

    /// The best slot for v among those near its partners that are not yet in the cycle; v's own slot if there
    /// is none.
    Position find_best_slot(Rank v, Meter& meter) {
        Position best = state_.position(v);
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        for (const Rank partner : graph_.peers(v)) {
            for (const Position to : near_.list_at(state_.position(partner))) {
                if (to == state_.position(v) || !state_.is_available(to) || path_.leads_to(to)) continue;
                meter.spend(1);
                const Rank x = state_.occupant(to);
                const std::int64_t gain =
                    x == Rank::none ? state_.move_gain(v, to) : state_.exchange_gain(v, x);
                if (gain > most) {
                    most = gain;
                    best = to;
                }
            }
        }
        return best;
    }

    /// Queues the moved ranks and their partners for another visit.
    void queue_changed_ranks() {
        for (const EjectionPath::Step& step : path_) {
            queue_.add_with_partners(step.rank);
            if (step.ejected != Rank::none) queue_.add_with_partners(step.ejected);
        }
    }
    const CommGraph& graph_;
    const NearLists& near_;
    std::uint32_t length_;
    Arrangement& state_;
    WakeQueue queue_;
    EjectionPath path_;
};

/// Moves a rank to a slot near a partner if that gains. The occupant of that slot moves to the best slot near
/// its own partners, or to the first rank's old slot, and so on. A cycle of at most `length` ranks, or a
/// chain that ends on a free slot, is accepted as soon as it lowers hop-bytes; otherwise it is undone. Visits
/// the ranks whose surroundings changed until none remains or the budget ends.
///
/// These are ejection chains with the gain criterion of Lin and Kernighan (Glover, Ejection chains, reference
/// structures and alternating path methods, Discrete Applied Mathematics 65 (1996)). A visit costs O(partners
/// * near) evaluations, each O(degree), and the same again for each ejected rank. Work counts evaluations.
/// For objectives other than hop-bytes see rotate_on_routes().
Placement improve_by_rotations(const Problem& problem, Placement start, Meter& meter,
                               const RotateOptions& options) {
    const Allocation& allocation = problem.allocation();
    if (allocation.slot_count() < 2 || !charge_preparation(meter, problem)) return start;
    if (!problem.is_for_hop_bytes()) return rotate_on_routes(problem, start, meter, options);
    const NearLists near(allocation, options.near);
    with_arrangement(problem, start.slots(), [&](Arrangement& state) {
        RotateSearch(state, near, problem.symmetric(), options).run(meter);
        start = placement_at(allocation, state.positions());
    });
    return start;
}

}  // namespace

MapperEntry rotate_mapper() {
    return mapper_entry<improve_by_rotations>(
        {.name = "rotate",
         .summary =
             "moves chains of a few ranks, each to the slot of the next or to a free one, until none helps",
         .source = "Glover 1996",
         .needs = "graph, distances",
         .occupancy = Occupancy::alone,
         .minimizes = SearchObjective::objective});
}

}  // namespace topoloom::local
