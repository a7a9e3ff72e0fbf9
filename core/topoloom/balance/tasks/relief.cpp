// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/relief.hpp"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace topoloom {

namespace {

constexpr std::size_t nearest = 4;
/// The search stops after this number of almost ineffective paths.
constexpr int max_idle_paths = 3;

struct MoveOffer {
    double price;
    Vertex vertex;
    Part to;
    friend bool operator<(const MoveOffer& a, const MoveOffer& b) {
        return a.price != b.price ? a.price > b.price : a.vertex > b.vertex;
    }
};

/// By how much moving a vertex reduces its rank's excess, in the unit of excess().
double relative_load(const TaskPartition& parts, Vertex v) {
    const double load = parts.level().load[v.value];
    return load > 0 ? load / parts.limit() : 0;
}

std::vector<Vertex> vertices_of(const TaskPartition& parts, Part rank) {
    std::vector<Vertex> list;
    for (const Vertex v : parts.level().graph.vertices())
        if (parts[v] == rank) list.push_back(v);
    return list;
}

/// The nearest ranks below the limit; on equal distances the emptiest first.
std::vector<Part> find_near_ranks_with_room(const TaskPartition& parts, Part rank) {
    std::vector<std::pair<std::pair<double, double>, Part>> all;
    for (const Part other : ids<Part>(parts.ranks())) {
        if (other != rank && !parts.exceeds(other))
            all.push_back({{parts.distance()(rank, other), parts.load(other)}, other});
    }
    const std::size_t count = std::min(nearest, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<Part> parts_by_gain;
    for (std::size_t i = 0; i < count; ++i) parts_by_gain.push_back(all[i].second);
    return parts_by_gain;
}

/// Cost per unit of excess removed; cheapest moves come first.
double relief_price(const TaskPartition& parts, Vertex v, double gain, double excess) {
    const double taken = std::min(relative_load(parts, v), excess);
    return gain >= 0 ? -gain : -gain / std::max(taken, 1e-9);
}

/// Moves vertices of a rank above the limit to near ranks, cheapest first.
class RankRelief {
   public:
    RankRelief(TaskPartition& parts, Part rank)
        : parts_(parts), rank_(rank), receivers_(find_near_ranks_with_room(parts, rank)) {}

    void relieve() {
        const std::vector<Vertex> held_vertices = vertices_of(parts_, rank_);
        for (int round = 0; round < 2 && parts_.exceeds(rank_); ++round) {
            if (round > 0) receivers_ = find_near_ranks_with_room(parts_, rank_);
            offer_held(held_vertices);
            while (!offers_.empty() && parts_.exceeds(rank_)) accept_best_offer();
            offers_ = {};
        }
    }

   private:
    [[nodiscard]] double price(Vertex v, const VertexMove& move) const {
        return relief_price(parts_, v, move.gain, parts_.excess(rank_));
    }
    void offer(Vertex v) {
        const std::optional<VertexMove> move = parts_.best_move(v, receivers_);
        if (move) offers_.push({price(v, *move), v, move->to});
    }
    void offer_held(std::span<const Vertex> vertices) {
        for (const Vertex v : vertices)
            if (parts_[v] == rank_) offer(v);
    }
    void accept_best_offer() {
        const MoveOffer next = offers_.top();
        offers_.pop();
        if (parts_[next.vertex] != rank_) return;
        std::optional<VertexMove> move = parts_.best_move(next.vertex, receivers_);
        if (!move) {
            receivers_ = find_near_ranks_with_room(parts_, rank_);
            move = parts_.best_move(next.vertex, receivers_);
            if (!move) return;
        }
        if (price(next.vertex, *move) > next.price) return offer(next.vertex);
        parts_.move(next.vertex, move->to);
        offer_held(parts_.level().graph.peers(next.vertex));
    }

    TaskPartition& parts_;
    Part rank_;
    std::vector<Part> receivers_;
    std::priority_queue<MoveOffer> offers_;
};

}  // namespace

void relieve_directly(TaskPartition& parts) {
    std::vector<Part> full;
    for (const Part rank : ids<Part>(parts.ranks()))
        if (parts.exceeds(rank)) full.push_back(rank);
    std::ranges::stable_sort(full, [&](Part a, Part b) { return parts.excess(a) > parts.excess(b); });
    for (const Part rank : full) {
        parts.poll();
        RankRelief(parts, rank).relieve();
    }
}

namespace {

/// The ranks with neighboring vertices, for each rank.
std::vector<std::vector<Part>> neighbor_ranks(const TaskPartition& parts) {
    std::vector<std::vector<Part>> neighbor_parts(parts.ranks());
    for (const Vertex v : parts.level().graph.vertices()) {
        for (const Vertex u : parts.level().graph.peers(v))
            if (parts[u] != parts[v]) neighbor_parts[parts[v].value].push_back(parts[u]);
    }
    for (std::vector<Part>& list : neighbor_parts) {
        std::ranges::sort(list);
        list.erase(std::ranges::unique(list).begin(), list.end());
    }
    return neighbor_parts;
}

/// Shortest path from this rank to a rank below the mean; empty if none is reachable.
std::vector<Part> find_path_to_room(const TaskPartition& parts, Part from, double mean) {
    const std::vector<std::vector<Part>> neighbors = neighbor_ranks(parts);
    std::vector<Part> before(parts.ranks(), Part::none);
    std::vector<Part> queue{from};
    before[from.value] = from;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        if (parts.load(queue[i]) < mean && !parts.exceeds(queue[i])) {
            std::vector<Part> path{queue[i]};
            while (path.back() != from) path.push_back(before[path.back().value]);
            std::ranges::reverse(path);
            return path;
        }
        for (const Part next : neighbors[queue[i].value]) {
            if (before[next.value] != Part::none) continue;
            before[next.value] = queue[i];
            queue.push_back(next);
        }
    }
    return {};
}

/// Moves vertices with about this total load; returns the load that moved.
double move_load(TaskPartition& parts, Part from, Part to, double load) {
    std::priority_queue<MoveOffer> offers;
    const auto offer = [&](Vertex v) {
        if (parts[v] == from && parts.level().load[v.value] > 0)
            offers.push({-parts.gain(v, to) / parts.level().load[v.value], v, to});
    };
    for (const Vertex v : vertices_of(parts, from)) offer(v);
    double moved_load = 0;
    while (!offers.empty() && moved_load < load) {
        const MoveOffer next = offers.top();
        offers.pop();
        const double weight = parts.level().load[next.vertex.value];
        if (parts[next.vertex] != from || weight >= 2 * (load - moved_load)) continue;
        const double now = -parts.gain(next.vertex, to) / weight;
        if (now > next.price) {
            offers.push({now, next.vertex, to});
            continue;
        }
        parts.move(next.vertex, to);
        moved_load += weight;
        for (const Vertex u : parts.level().graph.peers(next.vertex)) offer(u);
    }
    return moved_load;
}

}  // namespace

void relieve_along_paths(TaskPartition& parts) {
    double sum = 0;
    for (const Part rank : ids<Part>(parts.ranks())) sum += parts.load(rank);
    const double mean = sum / static_cast<double>(parts.ranks());
    for (const Part rank : ids<Part>(parts.ranks())) {
        for (int idle = 0; parts.load(rank) > parts.limit() && idle < max_idle_paths;) {
            parts.poll();
            const std::vector<Part> path = find_path_to_room(parts, rank, mean);
            if (path.empty()) break;
            const double wanted =
                std::min(parts.load(rank) - parts.limit(), parts.limit() - parts.load(path.back()));
            double given = 0;
            for (std::size_t i = path.size() - 1; i-- > 0;)
                given = move_load(parts, path[i], path[i + 1], wanted);
            if (given < 0.1 * wanted) ++idle;
        }
    }
    relieve_directly(parts);
}

}  // namespace topoloom
