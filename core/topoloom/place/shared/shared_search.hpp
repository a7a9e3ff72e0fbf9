// SPDX-License-Identifier: BSD-3-Clause
// Local search for ranks that share slots: moves single ranks to lower hop-bytes within the slots'
// capacities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/gain_heap.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::shared {

/// An assignment of vertices to parts; each part has a point and a capacity. Fixed vertices stay.
template <class Space>
class SharedSearch {
   public:
    using Point = typename Space::Point;

    SharedSearch(const Space& space, const partition::WeightedGraph& graph, std::span<const Point> points,
                 std::span<const std::int64_t> capacity, std::vector<Part> part_of)
        : space_(space),
          graph_(graph),
          points_(points),
          capacity_(capacity),
          part_(std::move(part_of)),
          load_(points.size(), 0),
          towards_(points.size(), 0),
          awake_(graph.size(), 1),
          locked_(graph.size(), 0),
          heap_(graph.size()) {
        for (const Vertex v : graph.vertices()) load_[part_[v.value].value] += graph.mass[v.value];
    }

    [[nodiscard]] const std::vector<Part>& parts() const { return part_; }
    [[nodiscard]] std::uint64_t work() const { return work_; }

    /// Hop-bytes of the assignment, counting every edge once.
    [[nodiscard]] std::int64_t cost() const {
        std::int64_t twice = 0;
        for (const Vertex v : graph_.vertices()) {
            const auto peers = graph_.peers(v);
            const auto weights = graph_.weights(v);
            for (std::size_t i = 0; i < peers.size(); ++i)
                twice += weights[i] * distance(part_[v.value], part_[peers[i].value]);
        }
        return twice / 2;
    }

    /// Restricts the search to vertices whose part differs from `before`, and their peers. `before` must be a
    /// local optimum.
    void wake_only_changes(std::span<const Part> before) {
        std::ranges::fill(awake_, char{0});
        for (const Vertex v : graph_.vertices()) {
            if (part_[v.value] != before[v.value]) wake_neighborhood(v);
        }
    }

    /// Runs localized searches from all awake border vertices, in random order (multi-try FM of Sanders,
    /// Schulz, ESA 2011, but on the true objective). Afterwards, only changed vertices and their peers are
    /// awake. Returns the decrease in hop-bytes.
    std::int64_t search_from_borders(Rng& rng, std::uint32_t max_idle_moves) {
        std::vector<Vertex> border;
        for (const Vertex v : graph_.vertices()) {
            if (awake_[v.value] == 0 || graph_.is_fixed(v)) continue;
            const auto peers = graph_.peers(v);
            if (std::ranges::any_of(peers, [&](Vertex u) { return part_[u.value] != part_[v.value]; }))
                border.push_back(v);
        }
        std::ranges::fill(awake_, char{0});
        rng.shuffle(std::span<Vertex>(border));
        std::int64_t gained = 0;
        const std::uint64_t last = examined_ + 4096 * std::uint64_t{graph_.size()} + 8 * graph_.peer.size();
        for (const Vertex v : border) {
            if (examined_ > last) break;  // reached only in dense graphs
            if (locked_[v.value] == 0) gained += search_from(v, max_idle_moves);
        }
        std::ranges::fill(locked_, char{0});
        return gained;
    }

    /// Moves single vertices out of overfull parts at the lowest cost; some parts may stay overfull.
    void repair() {
        for (const Part p : ids<Part>(points_.size())) {
            if (load_[p.value] > capacity_[p.value]) unload_part(p);
        }
    }
    [[nodiscard]] bool fits() const {
        for (const Part p : ids<Part>(points_.size())) {
            if (load_[p.value] > capacity_[p.value]) return false;
        }
        return true;
    }

   private:
    struct Move {
        Vertex vertex;
        Part from;
    };
    struct TargetPart {
        Part part;
        std::int64_t gain;
    };
    static constexpr std::size_t max_targets = 16;    // limit of parts tried per vertex, heaviest first
    static constexpr std::uint32_t many_peers = 128;  // with more, a move matters little to most peers

    [[nodiscard]] std::int64_t distance(Part a, Part b) const {
        return space_.distance(points_[a.value], points_[b.value]);
    }
    [[nodiscard]] bool fits(Part part, Vertex v) const {
        return load_[part.value] + graph_.mass[v.value] <= capacity_[part.value];
    }

    /// Sums the weights of v's edges by the peers' parts. `near_` lists these parts; v's own part is last.
    void sum_weights_by_part(Vertex v) {
        for (const Part p : near_) towards_[p.value] = 0;
        near_.clear();
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        const Part* const part = part_.data();
        std::int64_t* const towards = towards_.data();
        const Part mine = part[v.value];
        std::int64_t here = 0;  // kept in a register, because most peers are in v's part
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const Part p = part[peers[i].value];
            if (p == mine) {
                here += weights[i];
                continue;
            }
            if (towards[p.value] == 0) near_.push_back(p);
            towards[p.value] += weights[i];
        }
        examined_ += peers.size();
        if (here == 0) return;
        towards[mine.value] = here;
        near_.push_back(mine);
    }
    /// The cost if the vertex of the last sum_weights_by_part() were in this part, up to a constant.
    [[nodiscard]] std::int64_t cost_at(Part part) const {
        if constexpr (requires { Space::uniform; }) return -towards_[part.value];
        std::int64_t sum = 0;
        for (const Part p : near_) sum += towards_[p.value] * distance(part, p);
        return sum;
    }

    /// The best part with enough spare capacity among the parts of v's peers.
    [[nodiscard]] TargetPart find_best_target(Vertex v) {
        ++work_;
        sum_weights_by_part(v);
        TargetPart best{Part::none, 0};
        if (near_.empty() || (near_.size() == 1 && near_.front() == part_[v.value])) return best;
        if (near_.size() > max_targets) {
            std::ranges::nth_element(near_, near_.begin() + max_targets, [&](auto a, auto b) {
                return towards_[a.value] != towards_[b.value] ? towards_[a.value] > towards_[b.value] : a < b;
            });
        }
        const std::int64_t here = cost_at(part_[v.value]);
        for (std::size_t i = 0; i < std::min(near_.size(), max_targets); ++i) {
            const Part p = near_[i];
            if (p == part_[v.value] || !fits(p, v)) continue;
            const std::int64_t gain = here - cost_at(p);
            if (best.part == Part::none || gain > best.gain ||
                (gain == best.gain && load_[p.value] < load_[best.part.value])) {
                best = {p, gain};
            }
        }
        return best;
    }

    void wake_neighborhood(Vertex v) {
        awake_[v.value] = 1;
        for (const Vertex u : graph_.peers(v)) awake_[u.value] = 1;
    }

    void move_vertex(Vertex v, Part part) {
        load_[part_[v.value].value] -= graph_.mass[v.value];
        load_[part.value] += graph_.mass[v.value];
        part_[v.value] = part;
    }

    void queue_vertex(Vertex v) {
        if (graph_.is_fixed(v)) return;
        const TargetPart target = find_best_target(v);
        if (target.part != Part::none) {
            heap_.set(v, target.gain);
        } else if (heap_.contains(v)) {
            heap_.erase(v);
        }
    }

    /// Queues the peers of a vertex that moved; if there are many peers, only those with heavy edges.
    void queue_peers(Vertex v) {
        const auto peers = graph_.peers(v);
        if (peers.size() <= many_peers) {
            for (const Vertex u : peers) {
                if (locked_[u.value] == 0) queue_vertex(u);
            }
            return;
        }
        const auto weights = graph_.weights(v);
        const std::int64_t mean = std::accumulate(weights.begin(), weights.end(), std::int64_t{0}) /
                                  static_cast<std::int64_t>(weights.size());
        examined_ += peers.size();
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (weights[i] / 2 > mean && locked_[peers[i].value] == 0) queue_vertex(peers[i]);
        }
    }

    /// Performs the best moves around one vertex, even at a loss, then returns to the best state visited.
    std::int64_t search_from(Vertex seed, std::uint32_t max_idle_moves) {
        heap_.clear();
        moves_.clear();
        queue_vertex(seed);
        std::int64_t sum = 0;
        std::int64_t best = 0;
        std::size_t best_at = 0;
        const std::uint64_t long_search = std::uint64_t{many_peers} * many_peers * max_idle_moves;
        std::uint64_t last = examined_ + long_search;
        while (!heap_.empty() && moves_.size() - best_at <= max_idle_moves && examined_ <= last) {
            const Vertex v = heap_.top();
            const std::int64_t expected = heap_.top_gain();
            heap_.erase(v);
            const TargetPart target = find_best_target(v);
            if (target.part == Part::none) continue;
            if (target.gain < expected && !heap_.empty() && target.gain < heap_.top_gain()) {
                heap_.set(v, target.gain);
                continue;
            }
            moves_.push_back({v, part_[v.value]});
            locked_[v.value] = 1;
            move_vertex(v, target.part);
            sum += target.gain;
            if (sum > best) {
                best = sum;
                best_at = moves_.size();
                last = examined_ + long_search;
            }
            queue_peers(v);
        }
        while (moves_.size() > best_at) {
            locked_[moves_.back().vertex.value] = 0;
            move_vertex(moves_.back().vertex, moves_.back().from);
            moves_.pop_back();
        }
        for (const Move& move : moves_) wake_neighborhood(move.vertex);
        return best;
    }

    /// Moves vertices out of an overfull part until it fits, those with the smallest loss first, each to the
    /// best part with enough spare capacity.
    void unload_part(Part from) {
        struct Candidate {
            std::int64_t loss;
            Vertex vertex;
        };
        std::vector<Candidate> candidates;
        for (const Vertex v : graph_.vertices()) {
            if (part_[v.value] != from || graph_.mass[v.value] == 0 || graph_.is_fixed(v)) continue;
            sum_weights_by_part(v);
            const std::int64_t here = cost_at(from);
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (const Part p : ids<Part>(points_.size())) {
                if (p != from && fits(p, v)) least = std::min(least, cost_at(p) - here);
            }
            candidates.push_back({least, v});
        }
        std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
            return a.loss != b.loss ? a.loss < b.loss : a.vertex < b.vertex;
        });
        for (const Candidate& candidate : candidates) {
            if (load_[from.value] <= capacity_[from.value]) return;
            sum_weights_by_part(candidate.vertex);
            Part best = Part::none;
            for (const Part p : ids<Part>(points_.size())) {
                if (p == from || !fits(p, candidate.vertex)) continue;
                if (best == Part::none || cost_at(p) < cost_at(best)) best = p;
            }
            if (best != Part::none) move_vertex(candidate.vertex, best);
        }
    }

    const Space& space_;
    const partition::WeightedGraph& graph_;
    std::span<const Point> points_;
    std::span<const std::int64_t> capacity_;
    std::vector<Part> part_;
    std::vector<std::int64_t> load_;
    std::vector<std::int64_t> towards_;  // by part: weight of edges to it; scratch
    std::vector<Part> near_;             // parts with nonzero weight
    std::vector<char> awake_;
    std::vector<char> locked_;
    partition::GainHeap heap_;
    std::vector<Move> moves_;
    std::uint64_t work_ = 0;
    std::uint64_t examined_ = 0;  // edges
};

}  // namespace topoloom::shared
