// SPDX-License-Identifier: BSD-3-Clause
// A placement under local search: where every rank is, what its messages cost there, and what a change would gain.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/machine/allocation.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// One rank on a slot, on the symmetric graph, so that every pair of ranks counts once with its bytes of both
/// directions. Keeps the cost of each rank: a change that is not made costs O(degree), one that is made twice that.
/// All values are exact, so exchanging again, or moving back, restores the state bit for bit.
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

    /// By how much moving u to a free slot at `p` lowers hop-bytes. O(degree of u).
    [[nodiscard]] std::int64_t move_gain(Rank u, const Point& p) const {
        return cost_[u.value] - cost_at(u, p, u).sum;
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

}  // namespace topoloom
