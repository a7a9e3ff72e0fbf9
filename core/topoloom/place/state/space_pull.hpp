// SPDX-License-Identifier: BSD-3-Clause
// The sum of weighted distances from any slot to given slots, node interiors included.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace topoloom {

/// Adds the interior of nodes to a network's Pull, for spaces that have one.
template <class Space>
class LeveledPull {
   public:
    using Point = typename Space::Point;

    LeveledPull(const Space& space, std::span<const Point> points, std::span<const std::uint64_t> weights)
        : space_(&space),
          points_(points.begin(), points.end()),
          weights_(weights.begin(), weights.end()),
          network_(space.network(), network_points(points), weights) {
        for (std::size_t i = 0; i < points_.size(); ++i) {
            weight_ += weights_[i];
            ports_ += weights_[i] * points_[i].port;
        }
        if (ports_ > 0) ports_elsewhere_ = ports_ - max_ports_of_a_node();
    }

    [[nodiscard]] std::uint64_t cost(const Point& p) const {
        std::uint64_t sum = space_->hop_weight() * network_.cost(p.network) + ports_ + weight_ * p.port;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (points_[i].node != p.node) continue;
            const std::uint64_t ports = std::uint64_t{p.port} + points_[i].port;
            sum += weights_[i] * (space_->distance(p, points_[i]) - ports);  // modulo 2^64
        }
        return sum;
    }
    template <class Region>
    [[nodiscard]] std::uint64_t bound(const Region& region) const {
        return space_->hop_weight() * network_.bound(region) + ports_elsewhere_;
    }

   private:
    [[nodiscard]] std::uint64_t max_ports_of_a_node() const {
        std::unordered_map<std::uint32_t, std::uint64_t> ports;
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < points_.size(); ++i)
            most = std::max(most, ports[points_[i].node] += weights_[i] * points_[i].port);
        return most;
    }
    static auto network_points(std::span<const Point> points) {
        std::vector<std::decay_t<decltype(points[0].network)>> network;
        for (const Point& p : points) network.push_back(p.network);
        return network;
    }
    const Space* space_;
    std::vector<Point> points_;
    std::vector<std::uint64_t> weights_;
    typename Space::Network::Pull network_;
    std::uint64_t weight_ = 0;
    std::uint64_t ports_ = 0;            // what the distances to their ports cost the points
    std::uint64_t ports_elsewhere_ = 0;  // at least, for points that are not on the same node as a slot
};

/// Builds the cheapest correct Pull for a space.
template <class Space>
[[nodiscard]] auto make_pull(const Space& space, std::span<const typename Space::Point> points,
                             std::span<const std::uint64_t> weights) {
    if constexpr (Space::has_inside) {
        return LeveledPull<Space>(space, points, weights);
    } else {
        return typename Space::Network::Pull(space.network(), points, weights);
    }
}

}  // namespace topoloom
