// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/swap.hpp"

#include <utility>

#include "topoloom/place/arrangement.hpp"
#include "topoloom/place/free_slots.hpp"
#include "topoloom/place/neighborhood.hpp"
#include "topoloom/place/space_pull.hpp"

namespace topoloom {

namespace {

template <class Space>
class SwapSearch {
   public:
    SwapSearch(const Space& space, const Problem& problem, const Placement& start, const SwapOptions& options)
        : space_(space),
          graph_(problem.symmetric()),
          allocation_(problem.allocation()),
          state_(space, graph_, start),
          neighborhood_(graph_, options.reach, options.candidates),
          free_(space, allocation_),
          position_of_slot_(problem.machine().slot_count()),
          waiting_(graph_.rank_count(), true) {
        for (std::uint32_t i = 0; i < allocation_.slot_count(); ++i)
            position_of_slot_[allocation_.slots()[i].value] = i;
        for (const Slot slot : start.slots()) free_.take(position_of_slot_[slot.value]);
        for (const Rank u : ids<Rank>(graph_.rank_count())) queue_.push_back(u);
    }

    std::vector<Slot> run(Meter& meter) {
        do {
            drain(meter);
        } while (fill_freed_slots(meter));
        return state_.slots();
    }

   private:
    void drain(Meter& meter) {
        while (!queue_.empty() && !meter.exhausted()) {
            std::vector<Rank> round;
            round.swap(queue_);
            for (const Rank u : round) {
                waiting_[u.value] = false;
                visit(u, meter);
                if (meter.exhausted()) break;
            }
        }
    }

    /// A slot that became free may suit any rank, however far away: asks them all. True if one has moved.
    bool fill_freed_slots(Meter& meter) {
        if (!std::exchange(slots_freed_, false)) return false;
        for (const Rank u : ids<Rank>(graph_.rank_count())) {
            if (meter.exhausted()) return false;
            try_free_slot(u, meter);
        }
        return slots_freed_;
    }

    void visit(Rank u, Meter& meter) {
        for (const Rank v : neighborhood_.around(u)) {
            if (v == u) continue;
            if (!meter.spend(1)) return;
            if (state_.exchange_gain(u, v) <= 0) continue;
            state_.exchange(u, v);
            wake(u);
            wake(v);
        }
        if (free_.count() > 0) try_free_slot(u, meter);
    }

    void try_free_slot(Rank u, Meter& meter) {
        points_.clear();
        weights_.clear();
        for (const Edge edge : graph_.sends(u)) {
            points_.push_back(state_.point(edge.peer));
            weights_.push_back(static_cast<std::uint64_t>(edge.bytes.value));
        }
        const auto found =
            free_.nearest(make_pull(space_, std::span<const typename Space::Point>(points_), weights_));
        meter.spend(found.evaluated);
        if (static_cast<std::int64_t>(found.cost) >= state_.cost(u)) return;
        free_.release(position_of_slot_[state_.slot(u).value]);
        free_.take(found.position);
        state_.move(u, allocation_.slots()[found.position]);
        slots_freed_ = true;
        wake(u);
    }

    /// The rank and its partners have new surroundings: look at them again.
    void wake(Rank u) {
        const auto enqueue = [&](Rank v) {
            if (waiting_[v.value]) return;
            waiting_[v.value] = true;
            queue_.push_back(v);
        };
        enqueue(u);
        for (const Rank v : graph_.peers(u)) enqueue(v);
    }

    const Space& space_;
    const CommGraph& graph_;
    const Allocation& allocation_;
    Arrangement<Space> state_;
    Neighborhood neighborhood_;
    FreeSlots<Space> free_;
    std::vector<std::uint32_t> position_of_slot_;
    std::vector<char> waiting_;
    std::vector<Rank> queue_;
    bool slots_freed_ = false;
    std::vector<typename Space::Point> points_;
    std::vector<std::uint64_t> weights_;
};

}  // namespace

Placement improve_by_swaps(const Problem& problem, Placement start, Meter& meter,
                           const SwapOptions& options) {
    return with_space(problem.machine(), [&]<class Space>(const Space& space) {
        SwapSearch<Space> search(space, problem, start, options);
        return Placement(problem.allocation(), search.run(meter));
    });
}

}  // namespace topoloom
