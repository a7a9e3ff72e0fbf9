// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/local/rotate_routes.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/local/ejection_path.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/keep_better.hpp"

namespace topoloom::local {

namespace {

class RouteRotations {
   public:
    RouteRotations(LoadTracker& loads, const Problem& problem, const NearLists& near, std::uint32_t length)
        : loads_(loads),
          graph_(problem.symmetric()),
          slots_(problem.allocation().slots()),
          near_(near),
          length_(length),
          position_(rank_positions(problem.allocation(), loads.slots())),
          occupant_(slots_.size(), Rank::none) {
        for (const Rank u : ids<Rank>(position_.size())) occupant_[position_[u.value].value] = u;
    }

    void run(Meter& meter) {
        constexpr double share = 0.9;  // links with this share of the maximum load become the busiest next
        bool improved = true;
        while (std::exchange(improved, false)) {
            loads_.set_soft_scale();
            for (const Rank u : loads_.ranks_on_busy_links(share)) {
                if (loads_.is_on_busiest_link(u) && visit_rank(u, meter)) improved = true;
                meter.spend(near_.take_work());
                if (!meter.poll_clock()) return;
            }
        }
    }

   private:
    bool visit_rank(Rank u, Meter& meter) {
        if (loads_.is_fixed(u)) return false;
        bool improved = false;
        for (const Rank partner : graph_.peers(u)) {
            for (const Position to : near_.list_at(position_[partner.value])) {
                if (to == position_[u.value] || !is_available(to)) continue;
                if (!meter.spend(1)) return improved;
                if (!try_cycle(u, to, meter)) continue;
                improved = true;
                if (!loads_.is_on_busiest_link(u)) return true;
            }
        }
        return improved;
    }

    /// Moves u, then each ejected rank in turn. Returns true as soon as the cycle gains; otherwise restores
    /// the state.
    bool try_cycle(Rank u, Position to, Meter& meter) {
        const CongestionKey before = loads_.key();
        path_.clear();
        perform_step(u, to);
        while (!(loads_.key() < before) && path_.last_ejected() != Rank::none &&
               path_.length() + 1 < length_) {
            const Rank v = path_.last_ejected();
            const Position best = find_best_position(v, meter);
            if (best == position_[v.value]) break;
            perform_step(v, best);
        }
        if (loads_.key() < before) return true;
        while (!path_.empty()) {
            const EjectionPath::Step last = path_.pop();
            move_rank(last.rank, last.from);
        }
        return false;
    }

    /// Whether the slot is free or its rank may leave it.
    [[nodiscard]] bool is_available(Position position) const {
        const Rank u = occupant_[position.value];
        return u == Rank::none || !loads_.is_fixed(u);
    }
    void perform_step(Rank u, Position to) {
        path_.push({u, occupant_[to.value], position_[u.value], to});
        move_rank(u, to);
    }
    /// Moves u to `to`; the occupant of `to`, if any, moves to u's old slot.
    void move_rank(Rank u, Position to) {
        const Rank v = occupant_[to.value];
        const Position from = position_[u.value];
        apply_change(u, v, to);
        position_[u.value] = to;
        occupant_[to.value] = u;
        occupant_[from.value] = v;
        if (v != Rank::none) position_[v.value] = from;
    }
    void apply_change(Rank u, Rank v, Position to) {
        if (v == Rank::none) {
            loads_.move(u, slots_[to.value]);
        } else {
            loads_.exchange(u, v);
        }
    }

    /// Among the positions near v's partners that are not yet in the cycle, the position that gives the
    /// lowest soft load if v moves there; v's own position if there is none.
    Position find_best_position(Rank v, Meter& meter) {
        Position best = position_[v.value];
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const Rank partner : graph_.peers(v)) {
            for (const Position to : near_.list_at(position_[partner.value])) {
                if (to == position_[v.value] || !is_available(to) || path_.leads_to(to)) continue;
                meter.spend(1);
                apply_change(v, occupant_[to.value], to);
                const std::int64_t soft = loads_.soft_value();
                loads_.undo();
                if (soft >= least) continue;
                least = soft;
                best = to;
            }
        }
        return best;
    }

    LoadTracker& loads_;
    const CommGraph& graph_;
    std::span<const Slot> slots_;
    const NearLists& near_;
    std::uint32_t length_;
    std::vector<Position> position_;  // by rank
    std::vector<Rank> occupant_;      // by position
    EjectionPath path_;
};

}  // namespace

Placement rotate_on_routes(const Problem& problem, const Placement& start, Meter& meter,
                           const RotateOptions& options) {
    if (!charge_link_loads(meter, problem)) return start;
    const PhasedObjective objective = problem.link_objective();
    return keep_better(problem, start, [&](const Placement& from) {
        const std::unique_ptr<LoadTracker> loads =
            make_load_tracker(problem.machine(), objective, from.slots());
        loads->fix(problem.fixed().ranks());
        const NearLists near(problem.allocation(), options.near);
        RouteRotations(*loads, problem, near, options.length).run(meter);
        return Placement(problem.allocation(), loads->slots());
    });
}

}  // namespace topoloom::local
