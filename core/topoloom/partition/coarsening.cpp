// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/partition/coarsening.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/partition/graph_rows.hpp"

namespace topoloom::partition {

namespace {

/// Assigns every vertex to one of the numbered clusters.
class Clusterer {
   public:
    Clusterer(const WeightedGraph& graph, std::int64_t max_mass, std::span<const Part> label,
              std::uint32_t window)
        : graph_(graph),
          max_mass_(max_mass),
          label_(label),
          window_(window == 0 ? std::max(1U, graph.size()) : window),
          cluster_(graph.size(), Vertex::none),
          waiting_(graph.size(), Vertex::none) {}

    std::vector<Vertex> run(Rng rng) {
        for (std::uint32_t v = 0; v < graph_.fixed.size(); ++v) {
            if (graph_.fixed[v] != 0) open_cluster(Vertex{v});
        }
        for (const Vertex v : make_visiting_order(rng)) {
            if (cluster_[v.value] == Vertex::none) join_vertex(v);
        }
        for (const Vertex v : graph_.vertices()) {
            if (cluster_[v.value] == Vertex::none) open_cluster(v);
        }
        return std::move(cluster_);
    }
    [[nodiscard]] const std::vector<std::int64_t>& masses() const { return mass_; }

   private:
    /// The order in which vertices are visited. In each window, low-degree vertices come first, because they
    /// have the fewest choices; ties are random.
    std::vector<Vertex> make_visiting_order(Rng rng) const {
        std::vector<Vertex> order = id_list<Vertex>(graph_.size());
        std::vector<Vertex> sorted(order.size());
        const Chunks windows(order.size(), window_);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const auto [begin, end] = windows[i];
            const std::span<Vertex> some(order.data() + begin, end - begin);
            rng.shuffle(some);
            sort_by_degree(some, std::span(sorted.data() + begin, some.size()));
        }
        return sorted;
    }

    void sort_by_degree(std::span<const Vertex> order, std::span<Vertex> sorted) const {
        constexpr std::uint32_t classes = 32;
        const auto class_of = [&](Vertex v) { return std::min(classes - 1, graph_.degree(v)); };
        std::array<std::uint32_t, classes + 1> begin{};
        for (const Vertex v : order) ++begin[class_of(v) + 1];
        for (std::uint32_t c = 0; c < classes; ++c) begin[c + 1] += begin[c];
        for (const Vertex v : order) sorted[begin[class_of(v)]++] = v;
    }

    void join_vertex(Vertex v) {
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        Vertex best_free = Vertex::none;
        double best_free_rating = 0;
        Vertex best_taken = Vertex::none;
        double best_taken_rating = 0;
        Vertex favorite = Vertex::none;
        std::int64_t favorite_weight = -1;
        const auto mine = static_cast<double>(graph_.mass[v.value]);
        const bool has_fixed = !graph_.fixed.empty();
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const Vertex u = peers[i];
            if (!label_.empty() && label_[u.value] != label_[v.value]) continue;
            if (has_fixed && graph_.is_fixed(u)) continue;
            if (weights[i] > favorite_weight) {
                favorite_weight = weights[i];
                favorite = u;
            }
            const bool taken = cluster_[u.value] != Vertex::none;
            const std::int64_t other = taken ? mass_[cluster_[u.value].value] : graph_.mass[u.value];
            if (graph_.mass[v.value] + other > max_mass_) continue;
            const auto w = static_cast<double>(weights[i]);
            const double rating = w * w / (std::max(1.0, mine) * std::max(1.0, static_cast<double>(other)));
            if (!taken && (best_free == Vertex::none || rating > best_free_rating)) {
                best_free = u;
                best_free_rating = rating;
            } else if (taken && (best_taken == Vertex::none || rating > best_taken_rating)) {
                best_taken = u;
                best_taken_rating = rating;
            }
        }
        if (best_free != Vertex::none) {
            add_to_cluster(best_free, open_cluster(v));
        } else if (best_taken != Vertex::none &&
                   mass_[cluster_[best_taken.value].value] + graph_.mass[v.value] <= max_joined_mass(v)) {
            add_to_cluster(v, cluster_[best_taken.value]);
        } else {
            join_with_waiting(v, favorite);
        }
    }

    /// The maximum mass of a cluster after v has joined it as the third or later vertex.
    [[nodiscard]] std::int64_t max_joined_mass(Vertex v) const {
        return std::min(max_mass_, 4 * std::max<std::int64_t>(1, graph_.mass[v.value]));
    }

    /// Joins v with an unmatched vertex that prefers the same neighbor or, like v, has no neighbor. If there
    /// is none, v waits for one.
    void join_with_waiting(Vertex v, Vertex favorite) {
        Vertex& other = favorite == Vertex::none ? waiting_isolated_ : waiting_[favorite.value];
        if (favorite == Vertex::none && !label_.empty()) return;
        if (other == Vertex::none || cluster_[other.value] != Vertex::none ||
            graph_.mass[other.value] + graph_.mass[v.value] > max_mass_) {
            other = v;
        } else {
            add_to_cluster(other, open_cluster(v));
            other = Vertex::none;
        }
    }

    Vertex open_cluster(Vertex v) {
        const Vertex c{mass_.size()};
        mass_.push_back(0);
        add_to_cluster(v, c);
        return c;
    }
    void add_to_cluster(Vertex v, Vertex cluster) {
        cluster_[v.value] = cluster;
        mass_[cluster.value] += graph_.mass[v.value];
    }

    const WeightedGraph& graph_;
    std::int64_t max_mass_;
    std::span<const Part> label_;
    std::uint32_t window_;
    std::vector<Vertex> cluster_;  // cluster of each vertex
    std::vector<Vertex> waiting_;  // by vertex: an unmatched neighbor that prefers it
    Vertex waiting_isolated_ = Vertex::none;
    std::vector<std::int64_t> mass_;  // by cluster
};

/// The vertices, sorted by cluster, and the index at which each cluster begins.
struct ClusterMembers {
    std::vector<std::uint32_t> begin;
    std::vector<Vertex> vertex;

    ClusterMembers(const std::vector<Vertex>& coarse_of, std::uint32_t clusters)
        : begin(clusters + 1, 0), vertex(coarse_of.size()) {
        for (const Vertex c : coarse_of) ++begin[c.value + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
        for (std::uint32_t v = 0; v < coarse_of.size(); ++v) vertex[next[coarse_of[v].value]++] = Vertex{v};
    }
};

/// Builds the rows of a range of clusters, summing parallel edges.
GraphRows sum_cluster_rows(const WeightedGraph& fine, const std::vector<Vertex>& coarse_of,
                           const ClusterMembers& members, const Chunk& chunk) {
    GraphRows rows;
    rows.end.reserve(chunk.end - chunk.begin);
    std::size_t edges = 0;
    for (std::uint32_t i = members.begin[chunk.begin]; i < members.begin[chunk.end]; ++i)
        edges += fine.degree(members.vertex[i]);
    rows.peer.reserve(edges * 2 / 3);
    rows.weight.reserve(edges * 2 / 3);
    std::vector<std::uint32_t> entry(members.begin.size() - 1, no_index);  // by peer: its index in this row
    for (auto c = static_cast<std::uint32_t>(chunk.begin); c < chunk.end; ++c) {
        const auto row = static_cast<std::uint32_t>(rows.peer.size());
        for (std::uint32_t i = members.begin[c]; i < members.begin[c + 1]; ++i) {
            const std::uint32_t v = members.vertex[i].value;
            for (std::uint32_t e = fine.first[v]; e < fine.first[v + 1]; ++e) {
                const Vertex to = coarse_of[fine.peer[e].value];
                if (to == Vertex{c}) continue;
                if (entry[to.value] == no_index || entry[to.value] < row) {
                    entry[to.value] = static_cast<std::uint32_t>(rows.peer.size());
                    rows.peer.push_back(to);
                    rows.weight.push_back(fine.weight[e]);
                } else {
                    rows.weight[entry[to.value]] += fine.weight[e];
                }
            }
        }
        rows.end.push_back(static_cast<std::uint32_t>(rows.peer.size()));
    }
    return rows;
}

WeightedGraph contract(const WeightedGraph& fine, const std::vector<Vertex>& coarse_of,
                       const std::vector<std::int64_t>& masses, int threads) {
    const ClusterMembers members(coarse_of, static_cast<std::uint32_t>(masses.size()));
    // Uses few chunks, because each needs a table of all clusters.
    const Chunks chunks(masses.size(), std::max<std::size_t>(1U << 14, masses.size() / 16));
    std::vector<GraphRows> rows(chunks.size());
    parallel_for(chunks.size(), threads, [&](std::size_t i, int) {
        rows[i] = sum_cluster_rows(fine, coarse_of, members, chunks[i]);
    });
    WeightedGraph coarse;
    coarse.mass.assign(masses.begin(), masses.end());
    append_rows(coarse, rows);
    return coarse;
}

}  // namespace

Coarsening coarsen(const WeightedGraph& graph, std::int64_t max_mass, Rng rng, std::span<const Part> label,
                   std::uint32_t window, int threads) {
    Clusterer clusterer(graph, max_mass, label, window);
    std::vector<Vertex> coarse_of = clusterer.run(rng);
    WeightedGraph coarse = contract(graph, coarse_of, clusterer.masses(), threads);
    if (!graph.fixed.empty()) {
        coarse.fixed.assign(coarse.size(), 0);
        for (std::uint32_t v = 0; v < graph.size(); ++v) {
            if (graph.fixed[v] != 0) coarse.fixed[coarse_of[v].value] = 1;
        }
    }
    return {std::move(coarse), std::move(coarse_of)};
}

}  // namespace topoloom::partition
