// SPDX-License-Identifier: BSD-3-Clause
// Local search for ranks that share slots: single moves along hop-bytes, within the slots' capacities.
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

namespace topoloom {

/// Which place every vertex of a graph is on; places are numbers into a list of points and capacities.
template <class Space>
class SharedSearch {
   public:
    using Point = typename Space::Point;

    SharedSearch(const Space& space, const WeightedGraph& graph, std::span<const Point> points,
                 std::span<const std::int64_t> capacity, std::vector<std::uint32_t> place_of)
        : space_(space),
          graph_(graph),
          points_(points),
          capacity_(capacity),
          place_(std::move(place_of)),
          load_(points.size(), 0),
          towards_(points.size(), 0),
          awake_(graph.size(), 1),
          locked_(graph.size(), 0),
          heap_(graph.size()) {
        for (std::uint32_t v = 0; v < graph.size(); ++v) load_[place_[v]] += graph.mass[v];
    }

    [[nodiscard]] const std::vector<std::uint32_t>& places() const { return place_; }
    [[nodiscard]] std::uint64_t work() const { return work_; }

    /// Hop-bytes, every edge once.
    [[nodiscard]] std::int64_t cost() const {
        std::int64_t twice = 0;
        for (std::uint32_t v = 0; v < graph_.size(); ++v) {
            const auto peers = graph_.peers(v);
            const auto weights = graph_.weights(v);
            for (std::size_t i = 0; i < peers.size(); ++i)
                twice += weights[i] * distance(place_[v], place_[peers[i]]);
        }
        return twice / 2;
    }

    /// Only what is near a difference to `before`, from which no single search gains, need be looked at.
    void wake_only_changes(std::span<const std::uint32_t> before) {
        std::ranges::fill(awake_, char{0});
        for (std::uint32_t v = 0; v < graph_.size(); ++v) {
            if (place_[v] != before[v]) wake(v);
        }
    }

    /// Localized searches from all borders that are awake, in a random order (Sanders, Schulz, ESA 2011: multi-try FM,
    /// here on the true objective). Only what they change is awake afterwards. Returns by how much hop-bytes fell.
    std::int64_t round(Rng& rng, std::uint32_t patience) {
        std::vector<std::uint32_t> border;
        for (std::uint32_t v = 0; v < graph_.size(); ++v) {
            if (awake_[v] == 0) continue;
            const auto peers = graph_.peers(v);
            if (std::ranges::any_of(peers, [&](std::uint32_t u) { return place_[u] != place_[v]; }))
                border.push_back(v);
        }
        std::ranges::fill(awake_, char{0});
        rng.shuffle(std::span<std::uint32_t>(border));
        std::int64_t gained = 0;
        const std::uint64_t last = examined_ + 4096 * std::uint64_t{graph_.size()} + 8 * graph_.peer.size();
        for (const std::uint32_t v : border) {
            if (examined_ > last) break;  // only dense graphs get there
            if (locked_[v] == 0) gained += search_from(v, patience);
        }
        std::ranges::fill(locked_, char{0});
        return gained;
    }

    /// Empties overfull places at the least cost, as far as moves of single vertices can.
    void repair() {
        for (std::uint32_t p = 0; p < points_.size(); ++p) {
            if (load_[p] > capacity_[p]) unload(p);
        }
    }
    [[nodiscard]] bool fits() const {
        for (std::size_t p = 0; p < points_.size(); ++p) {
            if (load_[p] > capacity_[p]) return false;
        }
        return true;
    }

   private:
    struct Move {
        std::uint32_t vertex;
        std::uint32_t from;
    };
    struct Target {
        std::uint32_t place;
        std::int64_t gain;
    };
    static constexpr std::uint32_t no_index = static_cast<std::uint32_t>(-1);
    static constexpr std::size_t max_targets = 16;  // places tried for one vertex: those it talks to most
    static constexpr std::uint32_t crowd = 128;     // of so many peers most hardly notice a move

    [[nodiscard]] std::int64_t distance(std::uint32_t a, std::uint32_t b) const {
        return space_.distance(points_[a], points_[b]);
    }
    [[nodiscard]] bool has_room(std::uint32_t place, std::uint32_t v) const {
        return load_[place] + graph_.mass[v] <= capacity_[place];
    }

    /// Sums what v exchanges with every place; `near_` lists these places, its own last.
    void gather(std::uint32_t v) {
        for (const std::uint32_t p : near_) towards_[p] = 0;
        near_.clear();
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        const std::uint32_t* const place = place_.data();
        std::int64_t* const towards = towards_.data();
        const std::uint32_t mine = place[v];
        std::int64_t here = 0;  // most peers are: no need to go through memory
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const std::uint32_t p = place[peers[i]];
            if (p == mine) {
                here += weights[i];
                continue;
            }
            if (towards[p] == 0) near_.push_back(p);
            towards[p] += weights[i];
        }
        examined_ += peers.size();
        if (here == 0) return;
        towards[mine] = here;
        near_.push_back(mine);
    }
    /// What v, whose surroundings are gathered, costs on a place; to be compared with what it costs on others.
    [[nodiscard]] std::int64_t cost_at(std::uint32_t place) const {
        if constexpr (requires { Space::uniform; }) return -towards_[place];
        std::int64_t sum = 0;
        for (const std::uint32_t p : near_) sum += towards_[p] * distance(place, p);
        return sum;
    }

    /// The best place with room among those that v talks to.
    [[nodiscard]] Target best_target(std::uint32_t v) {
        ++work_;
        gather(v);
        Target best{no_index, 0};
        if (near_.empty() || (near_.size() == 1 && near_.front() == place_[v])) return best;
        if (near_.size() > max_targets) {
            std::ranges::nth_element(near_, near_.begin() + max_targets, [&](auto a, auto b) {
                return towards_[a] != towards_[b] ? towards_[a] > towards_[b] : a < b;
            });
        }
        const std::int64_t here = cost_at(place_[v]);
        for (std::size_t i = 0; i < std::min(near_.size(), max_targets); ++i) {
            const std::uint32_t p = near_[i];
            if (p == place_[v] || !has_room(p, v)) continue;
            const std::int64_t gain = here - cost_at(p);
            if (best.place == no_index || gain > best.gain ||
                (gain == best.gain && load_[p] < load_[best.place])) {
                best = {p, gain};
            }
        }
        return best;
    }

    void wake(std::uint32_t v) {
        awake_[v] = 1;
        for (const std::uint32_t u : graph_.peers(v)) awake_[u] = 1;
    }

    void put(std::uint32_t v, std::uint32_t place) {
        load_[place_[v]] -= graph_.mass[v];
        load_[place] += graph_.mass[v];
        place_[v] = place;
    }

    void queue(std::uint32_t v) {
        const Target target = best_target(v);
        if (target.place != no_index) {
            heap_.set(v, target.gain);
        } else if (heap_.contains(v)) {
            heap_.erase(v);
        }
    }

    /// Looks at the peers of a vertex that moved; where they are a crowd, only at those that it exchanges much with.
    void queue_peers(std::uint32_t v) {
        const auto peers = graph_.peers(v);
        if (peers.size() <= crowd) {
            for (const std::uint32_t u : peers) {
                if (locked_[u] == 0) queue(u);
            }
            return;
        }
        const auto weights = graph_.weights(v);
        const std::int64_t mean = std::accumulate(weights.begin(), weights.end(), std::int64_t{0}) /
                                  static_cast<std::int64_t>(weights.size());
        examined_ += peers.size();
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (weights[i] / 2 > mean && locked_[peers[i]] == 0) queue(peers[i]);
        }
    }

    /// Follows the best moves around one vertex, through losses, and keeps the best state met.
    std::int64_t search_from(std::uint32_t seed, std::uint32_t patience) {
        heap_.clear();
        moves_.clear();
        queue(seed);
        std::int64_t sum = 0;
        std::int64_t best = 0;
        std::size_t best_at = 0;
        const std::uint64_t long_search = std::uint64_t{crowd} * crowd * patience;
        std::uint64_t last = examined_ + long_search;
        while (!heap_.empty() && moves_.size() - best_at <= patience && examined_ <= last) {
            const std::uint32_t v = heap_.top();
            const std::int64_t expected = heap_.top_gain();
            heap_.erase(v);
            const Target target = best_target(v);
            if (target.place == no_index) continue;
            if (target.gain < expected && !heap_.empty() && target.gain < heap_.top_gain()) {
                heap_.set(v, target.gain);
                continue;
            }
            moves_.push_back({v, place_[v]});
            locked_[v] = 1;
            put(v, target.place);
            sum += target.gain;
            if (sum > best) {
                best = sum;
                best_at = moves_.size();
                last = examined_ + long_search;
            }
            queue_peers(v);
        }
        while (moves_.size() > best_at) {
            locked_[moves_.back().vertex] = 0;
            put(moves_.back().vertex, moves_.back().from);
            moves_.pop_back();
        }
        for (const Move& move : moves_) wake(move.vertex);
        return best;
    }

    /// Moves vertices away, those that lose least first, to the best place that has room.
    void unload(std::uint32_t from) {
        struct Way {
            std::int64_t loss;
            std::uint32_t vertex;
        };
        std::vector<Way> ways;
        for (std::uint32_t v = 0; v < graph_.size(); ++v) {
            if (place_[v] != from || graph_.mass[v] == 0) continue;
            gather(v);
            const std::int64_t here = cost_at(from);
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (std::uint32_t p = 0; p < points_.size(); ++p) {
                if (p != from && has_room(p, v)) least = std::min(least, cost_at(p) - here);
            }
            ways.push_back({least, v});
        }
        std::ranges::sort(ways, [](const Way& a, const Way& b) {
            return a.loss != b.loss ? a.loss < b.loss : a.vertex < b.vertex;
        });
        for (const Way& way : ways) {
            if (load_[from] <= capacity_[from]) return;
            gather(way.vertex);
            std::uint32_t best = no_index;
            for (std::uint32_t p = 0; p < points_.size(); ++p) {
                if (p == from || !has_room(p, way.vertex)) continue;
                if (best == no_index || cost_at(p) < cost_at(best)) best = p;
            }
            if (best != no_index) put(way.vertex, best);
        }
    }

    const Space& space_;
    const WeightedGraph& graph_;
    std::span<const Point> points_;
    std::span<const std::int64_t> capacity_;
    std::vector<std::uint32_t> place_;
    std::vector<std::int64_t> load_;
    std::vector<std::int64_t> towards_;  // scratch: weight towards a place
    std::vector<std::uint32_t> near_;    // places with weight
    std::vector<char> awake_;
    std::vector<char> locked_;
    GainHeap heap_;
    std::vector<Move> moves_;
    std::uint64_t work_ = 0;
    std::uint64_t examined_ = 0;  // edges
};

}  // namespace topoloom
