// SPDX-License-Identifier: BSD-3-Clause
// Refines the border between two parts by minimum cuts.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/max_flow.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::shared {

/// Redistributes the vertices in a corridor along the border of two parts between these parts, so that
/// hop-bytes are fewest. Vertices outside the corridor stay fixed; their distances count. As in Sanders,
/// Schulz, ESA 2011, section 4 (corridor of adaptive size, most balanced minimum cut), but for hop-bytes.
template <class Space>
class PairFlow {
   public:
    using Point = typename Space::Point;

    /// Refers to all arguments. Changes `part_of`, whose parts must be within their capacities.
    PairFlow(const Space& space, const partition::WeightedGraph& graph, std::span<const Point> points,
             std::span<const std::int64_t> capacity, std::vector<Part>& part_of)
        : space_(space),
          graph_(graph),
          points_(points),
          capacity_(capacity),
          part_(part_of),
          load_(points.size(), 0),
          local_(graph.size(), Vertex::none),
          active_(points.size(), 1) {
        for (const Vertex v : graph.vertices()) load_[part_[v.value].value] += graph.mass[v.value];
        const std::int64_t spare = std::accumulate(capacity.begin(), capacity.end(), std::int64_t{0}) -
                                   std::accumulate(load_.begin(), load_.end(), std::int64_t{0});
        mean_spare_ = std::max<std::int64_t>(1, spare / static_cast<std::int64_t>(points.size()));
    }

    [[nodiscard]] std::uint64_t work() const { return network_.work() + work_; }

    /// Processes all pairs of adjacent parts, except pairs in which neither part changed in the previous
    /// round. Returns the decrease in hop-bytes.
    std::int64_t round(Rng& rng) {
        std::vector<BorderVertex> borders = find_borders();
        std::vector<std::uint32_t> pairs{0};  // index of the first border vertex of each pair
        for (std::uint32_t i = 1; i <= borders.size(); ++i) {
            if (i == borders.size() || borders[i].pair != borders[i - 1].pair) pairs.push_back(i);
        }
        std::vector<std::uint32_t> order(pairs.size() - 1);
        std::iota(order.begin(), order.end(), 0U);
        rng.shuffle(std::span<std::uint32_t>(order));
        next_active_.assign(points_.size(), 0);
        std::int64_t gained = 0;
        const std::uint64_t last = examined_ + 4096 * std::uint64_t{graph_.size()} + 2 * graph_.peer.size();
        for (const std::uint32_t i : order) {
            if (pairs[i] == pairs[i + 1]) continue;
            if (examined_ > last) break;  // reached only in dense graphs
            border_ = std::span(borders).subspan(pairs[i], pairs[i + 1] - pairs[i]);
            gained += improve_pair(Part{border_.front().pair >> 32},
                                   Part{static_cast<std::uint32_t>(border_.front().pair)});
        }
        std::swap(active_, next_active_);
        return gained;
    }

   private:
    struct BorderVertex {
        std::uint64_t pair;  // lower part number << 32 | higher part number
        Vertex vertex;
        friend auto operator<=>(const BorderVertex& a, const BorderVertex& b) = default;
    };
    static constexpr std::int64_t widest = 8;  // largest corridor, in multiples of the spare capacity
    static constexpr int max_tries = 8;

    [[nodiscard]] std::int64_t distance(Part a, Part b) const {
        return space_.distance(points_[a.value], points_[b.value]);
    }

    [[nodiscard]] std::vector<BorderVertex> find_borders() const {
        std::vector<BorderVertex> borders;
        std::vector<Vertex> met_by(points_.size(), Vertex::none);  // by part: the last vertex that met it
        for (const Vertex v : graph_.vertices()) {
            const std::uint64_t mine = part_[v.value].value;
            for (const Vertex u : graph_.peers(v)) {
                const std::uint64_t other = part_[u.value].value;
                if (other == mine || met_by[other] == v) continue;
                met_by[other] = v;
                if (active_[mine] == 0 && active_[other] == 0) continue;
                borders.push_back({std::min(mine, other) << 32 | std::max(mine, other), v});
            }
        }
        std::ranges::sort(borders);
        return borders;
    }

    enum class CutOutcome { better, even, unfit };

    std::int64_t improve_pair(Part a, Part b) {
        if (distance(a, b) == 0 &&
            space_.port_distance(points_[a.value]) == space_.port_distance(points_[b.value]))
            return 0;
        std::int64_t gained = 0;
        std::int64_t width = widest / 2;
        for (int tries = 0; tries < max_tries && width > 0; ++tries) {
            std::int64_t gain = 0;
            const CutOutcome outcome = cut_corridor(a, b, width, gain);
            gained += gain;
            if (outcome == CutOutcome::even) break;
            width = outcome == CutOutcome::better ? std::min(widest, 2 * width) : width / 2;
        }
        if (gained > 0) next_active_[a.value] = next_active_[b.value] = 1;
        return gained;
    }

    CutOutcome cut_corridor(Part a, Part b, std::int64_t width, std::int64_t& gain) {
        corridor_.clear();
        grow_corridor(
            a, std::max<std::int64_t>(0, capacity_[b.value] - load_[b.value]) + (width - 1) * mean_spare_);
        grow_corridor(
            b, std::max<std::int64_t>(0, capacity_[a.value] - load_[a.value]) + (width - 1) * mean_spare_);
        const std::int64_t before = build_network(a, b);
        const std::int64_t after = network_.solve();
        CutOutcome outcome = CutOutcome::even;
        if (after < before) {
            choose_balanced_cut(a, b);
            std::array<std::int64_t, 2> load{load_[a.value], load_[b.value]};
            for (std::size_t i = 0; i < corridor_.size(); ++i) {
                const Vertex v = corridor_[i];
                if (part_[v.value] == (side_[i] > 0 ? a : b)) continue;
                load[side_[i] > 0 ? 0 : 1] += graph_.mass[v.value];
                load[side_[i] > 0 ? 1 : 0] -= graph_.mass[v.value];
            }
            if (load[0] <= capacity_[a.value] && load[1] <= capacity_[b.value]) {
                for (std::size_t i = 0; i < corridor_.size(); ++i)
                    part_[corridor_[i].value] = side_[i] > 0 ? a : b;
                load_[a.value] = load[0];
                load_[b.value] = load[1];
                gain = before - after;
                outcome = CutOutcome::better;
            } else {
                outcome = CutOutcome::unfit;
            }
        }
        for (const Vertex v : corridor_) local_[v.value] = Vertex::none;
        return outcome;
    }

    /// Adds the vertices of one part that are nearest to the border to the corridor, up to a total mass.
    void grow_corridor(Part from, std::int64_t mass) {
        const std::size_t begin = corridor_.size();
        const auto take = [&](Vertex v) {
            if (part_[v.value] != from || local_[v.value] != Vertex::none || graph_.mass[v.value] > mass ||
                graph_.is_fixed(v))
                return;
            mass -= graph_.mass[v.value];
            local_[v.value] = Vertex{corridor_.size()};
            corridor_.push_back(v);
        };
        for (const BorderVertex& border : border_) take(border.vertex);
        for (std::size_t i = begin; i < corridor_.size() && mass > 0; ++i) {
            for (const Vertex u : graph_.peers(corridor_[i])) take(u);
            examined_ += graph_.degree(corridor_[i]);
        }
    }

    /// Builds the flow network of the corridor. Returns the cost of the current cut, comparable with
    /// FlowNetwork::solve().
    std::int64_t build_network(Part a, Part b) {
        network_.reset(static_cast<std::uint32_t>(corridor_.size()));
        const std::int64_t apart = distance(a, b);
        std::int64_t cost = 0;
        for (std::uint32_t i = 0; i < corridor_.size(); ++i) {
            const Vertex v = corridor_[i];
            const auto peers = graph_.peers(v);
            const auto weights = graph_.weights(v);
            std::int64_t terminal = 0;
            for (std::size_t e = 0; e < peers.size(); ++e) {
                const Vertex u = peers[e];
                if (local_[u.value] == Vertex::none) {
                    terminal += weights[e] * (distance(b, part_[u.value]) - distance(a, part_[u.value]));
                } else if (local_[u.value].value > i && weights[e] > 0) {
                    network_.add_edge(Vertex{i}, local_[u.value], weights[e] * apart);
                    if (part_[u.value] != part_[v.value]) cost += weights[e] * apart;
                }
            }
            work_ += peers.size();
            examined_ += peers.size();
            network_.add_terminal_cost(Vertex{i}, terminal);
            if (part_[v.value] == b) cost += terminal;
        }
        return cost;
    }

    /// Stores a minimum cut that balances the two parts well in side_.
    void choose_balanced_cut(Part a, Part b) {
        side_ = network_.sides();
        std::int64_t spare = capacity_[a.value] - load_[a.value];  // of a, if all undecided vertices are on b
        std::int64_t other = capacity_[b.value] - load_[b.value];
        for (std::size_t i = 0; i < corridor_.size(); ++i) {
            const Vertex v = corridor_[i];
            if (side_[i] > 0 && part_[v.value] == b)
                spare -= graph_.mass[v.value], other += graph_.mass[v.value];
            if (side_[i] <= 0 && part_[v.value] == a)
                spare += graph_.mass[v.value], other -= graph_.mass[v.value];
        }
        std::vector<Vertex> closure;
        std::uint64_t tried = 0;
        for (std::uint32_t i = 0; i < corridor_.size() && spare > other && tried < 4 * corridor_.size();
             ++i) {
            if (side_[i] != 0) continue;
            closure.assign(1, Vertex{i});
            side_[i] = 1;
            std::int64_t mass = 0;
            for (std::size_t k = 0; k < closure.size(); ++k) {
                mass += graph_.mass[corridor_[closure[k].value].value];
                network_.visit_residual_peers(closure[k], [&](Vertex u) {
                    if (side_[u.value] != 0) return;
                    side_[u.value] = 1;
                    closure.push_back(u);
                });
            }
            tried += closure.size();
            if (std::min(spare - mass, other + mass) >= std::min(spare, other)) {
                spare -= mass;
                other += mass;
            } else {
                for (const Vertex u : closure) side_[u.value] = 0;
            }
        }
    }

    const Space& space_;
    const partition::WeightedGraph& graph_;
    std::span<const Point> points_;
    std::span<const std::int64_t> capacity_;
    std::vector<Part>& part_;
    std::vector<std::int64_t> load_;
    std::int64_t mean_spare_ = 1;
    std::vector<Vertex> local_;             // by vertex: its number in the flow network
    std::vector<Vertex> corridor_;          // vertices
    std::span<const BorderVertex> border_;  // border vertices of the current pair
    std::vector<signed char> side_;         // by corridor vertex; 1: goes to the pair's lower part
    std::vector<char> active_;
    std::vector<char> next_active_;
    partition::FlowNetwork network_;
    std::uint64_t work_ = 0;
    std::uint64_t examined_ = 0;  // edges
};

}  // namespace topoloom::shared
