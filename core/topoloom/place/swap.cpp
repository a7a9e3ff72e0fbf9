// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/swap.hpp"

#include <utility>

#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/place/free_slots.hpp"
#include "topoloom/place/space_pull.hpp"

namespace topoloom {

namespace {

/// A placement under search: where every rank is and what its messages cost there.
template <class Space>
class Arrangement {
   public:
    using Point = typename Space::Point;

    Arrangement(const Space& space, const CommGraph& symmetric, const Placement& start)
        : space_(space),
          graph_(symmetric),
          slots_(start.slots().begin(), start.slots().end()),
          points_(points_of(space, slots_)) {
        for (const Rank u : ids<Rank>(slots_.size())) cost_.push_back(cost_at(u, points_[u.value], u).sum);
    }

    [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }
    [[nodiscard]] Slot slot(Rank u) const { return slots_[u.value]; }
    [[nodiscard]] const Point& point(Rank u) const { return points_[u.value]; }
    [[nodiscard]] std::int64_t cost(Rank u) const { return cost_[u.value]; }

    /// By how much exchanging u and v lowers hop-bytes; negative when it raises them. O(degree of u and v).
    [[nodiscard]] std::int64_t exchange_gain(Rank u, Rank v) const {
        const Point here = points_[u.value];
        const Point there = points_[v.value];
        const Sum u_there = cost_at(u, there, v);
        const Sum v_here = cost_at(v, here, u);
        // Both sums saw the other rank where it was: at distance 0. Together they keep their old distance.
        const std::int64_t between =
            2 * u_there.bytes_between * static_cast<std::int64_t>(space_.distance(here, there));
        return cost_[u.value] + cost_[v.value] - u_there.sum - v_here.sum - between;
    }

    void exchange(Rank u, Rank v) {
        std::swap(slots_[u.value], slots_[v.value]);
        const Point moved = points_[u.value];
        relocate(u, points_[v.value]);
        relocate(v, moved);
    }
    void move(Rank u, Slot to) {
        slots_[u.value] = to;
        relocate(u, space_.point(to));
    }

   private:
    struct Sum {
        std::int64_t sum = 0;
        std::int64_t bytes_between = 0;  // what the rank exchanges with `other`
    };

    /// What the messages of u cost if it sits at `p` and all others stay.
    [[nodiscard]] Sum cost_at(Rank u, const Point& p, Rank other) const {
        Sum result;
        const std::span<const Rank> peers = graph_.peers(u);
        const std::span<const Bytes> bytes = graph_.bytes(u);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            result.sum +=
                bytes[i].value * static_cast<std::int64_t>(space_.distance(p, points_[peers[i].value]));
            result.bytes_between += peers[i] == other ? bytes[i].value : 0;
        }
        return result;
    }

    void relocate(Rank u, const Point to) {
        const Point from = points_[u.value];
        std::int64_t cost = 0;
        for (const Edge edge : graph_.sends(u)) {
            const Point& peer = points_[edge.peer.value];
            const std::int64_t now = edge.bytes.value * static_cast<std::int64_t>(space_.distance(to, peer));
            cost_[edge.peer.value] +=
                now - edge.bytes.value * static_cast<std::int64_t>(space_.distance(from, peer));
            cost += now;
        }
        points_[u.value] = to;
        cost_[u.value] = cost;
    }

    const Space& space_;
    const CommGraph& graph_;
    std::vector<Slot> slots_;
    std::vector<Point> points_;
    std::vector<std::int64_t> cost_;
};

/// The ranks within some messages of a rank, nearest first.
class Neighborhood {
   public:
    Neighborhood(const CommGraph& symmetric, const SwapOptions& options)
        : graph_(symmetric), options_(options), seen_at_(symmetric.rank_count(), 0) {}

    const std::vector<Rank>& around(Rank u) {
        ++visit_;
        found_.assign(1, u);
        seen_at_[u.value] = visit_;
        std::size_t ring_begin = 0;
        for (std::uint32_t distance = 0; distance < options_.reach; ++distance) {
            const std::size_t ring_end = found_.size();
            for (std::size_t i = ring_begin; i < ring_end; ++i) {
                for (const Rank v : graph_.peers(found_[i])) {
                    if (seen_at_[v.value] == visit_) continue;
                    seen_at_[v.value] = visit_;
                    found_.push_back(v);
                    if (found_.size() > options_.candidates) return found_;
                }
            }
            ring_begin = ring_end;
        }
        return found_;
    }

   private:
    const CommGraph& graph_;
    const SwapOptions& options_;
    std::vector<std::uint64_t> seen_at_;  // the visit that last met a rank
    std::uint64_t visit_ = 0;
    std::vector<Rank> found_;
};

template <class Space>
class SwapSearch {
   public:
    SwapSearch(const Space& space, const Problem& problem, const Placement& start, const SwapOptions& options)
        : space_(space),
          graph_(problem.symmetric()),
          allocation_(problem.allocation()),
          state_(space, graph_, start),
          neighborhood_(graph_, options),
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
