// SPDX-License-Identifier: BSD-3-Clause
// The arrangement for one space. It contains the loops over edges in which local searches spend their time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/place/state/arrangement.hpp"

namespace topoloom {

template <class Space, class Graph>
class SpaceArrangement final : public Arrangement {
   public:
    using Point = typename Space::Point;
    /// Refers to all arguments except the last. `slots` is slot_points(space, allocation).
    SpaceArrangement(const Space& space, std::span<const Point> slots, const Graph& symmetric,
                     std::vector<Position> position_of_rank)
        : Arrangement(std::move(position_of_rank), slots.size()),
          space_(space),
          graph_(symmetric),
          slots_(slots) {
        for (const Position position : position_) points_.push_back(slots[position.value]);
        for (const Rank u : ids<Rank>(position_.size())) cost_.push_back(cost_at(u, points_[u.value]));
    }

    [[nodiscard]] bool sums_both_directions() const override {
        if constexpr (requires { space_.sums_both_directions(); }) return space_.sums_both_directions();
        return false;
    }
    [[nodiscard]] std::int64_t exchange_gain(Rank u, Rank v) override {
        // Both ranks move, so the distance between u and v does not change.
        std::swap(points_[u.value], points_[v.value]);
        const std::int64_t after = cost_at(u, points_[u.value]) + cost_at(v, points_[v.value]);
        std::swap(points_[u.value], points_[v.value]);
        return cost_[u.value] + cost_[v.value] - after;
    }

    [[nodiscard]] std::int64_t move_gain(Rank u, Position position) const override {
        return cost_[u.value] - cost_at(u, slots_[position.value]);
    }

    [[nodiscard]] std::size_t find_first_gain(Rank u, std::span<const Rank> candidates,
                                              std::size_t begin) override {
        for (std::size_t i = begin; i < candidates.size(); ++i)
            if (SpaceArrangement::exchange_gain(u, candidates[i]) > 0) return i;
        return candidates.size();
    }

    void exchange(Rank u, Rank v) override {
        const Point from = points_[u.value];
        const Point to = points_[v.value];
        std::swap(position_[u.value], position_[v.value]);
        occupant_[position_[u.value].value] = u;
        occupant_[position_[v.value].value] = v;
        relocate(u, from, to);
        relocate(v, to, from);
    }
    void move(Rank u, Position position) override {
        occupant_[position_[u.value].value] = Rank::none;
        occupant_[position.value] = u;
        position_[u.value] = position;
        relocate(u, points_[u.value], slots_[position.value]);
    }

   private:
    /// The cost of u's messages if u moved to `p` and no other rank moved.
    [[nodiscard]] std::int64_t cost_at(Rank u, const Point p) const {
        std::int64_t sum = 0;
        for (const auto edge : graph_.sends(u))
            sum += std::int64_t{edge.bytes.value} *
                   static_cast<std::int64_t>(space_.distance(p, points_[edge.peer.value]));
        return sum;
    }

    void relocate(Rank u, const Point from, const Point to) {
        std::int64_t rise = 0;
        for (const auto edge : graph_.sends(u)) {
            const Point peer = points_[edge.peer.value];
            const std::int64_t now = static_cast<std::int64_t>(space_.distance(to, peer));
            const std::int64_t before = static_cast<std::int64_t>(space_.distance(from, peer));
            cost_[edge.peer.value] += std::int64_t{edge.bytes.value} * (now - before);
            rise += std::int64_t{edge.bytes.value} * (now - before);
        }
        points_[u.value] = to;
        cost_[u.value] += rise;
    }

    const Space& space_;
    const Graph& graph_;
    std::span<const Point> slots_;
    std::vector<Point> points_;  // by rank
};

}  // namespace topoloom
