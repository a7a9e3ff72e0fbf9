// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/coarsening.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace topoloom {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Gives every vertex the number of its cluster.
class Joiner {
   public:
    Joiner(const WeightedGraph& graph, std::int64_t max_mass, std::span<const std::uint32_t> label)
        : graph_(graph),
          max_mass_(max_mass),
          label_(label),
          cluster_(graph.size(), none),
          waiting_(graph.size(), none) {}

    std::vector<std::uint32_t> run(Rng rng) {
        for (const std::uint32_t v : visiting_order(rng)) {
            if (cluster_[v] == none) join(v);
        }
        for (std::uint32_t v = 0; v < graph_.size(); ++v) {
            if (cluster_[v] == none) open(v);
        }
        return std::move(cluster_);
    }
    [[nodiscard]] const std::vector<std::int64_t>& masses() const { return mass_; }

   private:
    /// Vertices of few neighbors first: they have the least choice. Random among equals.
    std::vector<std::uint32_t> visiting_order(Rng rng) const {
        std::vector<std::uint32_t> order(graph_.size());
        std::iota(order.begin(), order.end(), 0U);
        rng.shuffle(std::span<std::uint32_t>(order));
        constexpr std::uint32_t classes = 32;
        const auto class_of = [&](std::uint32_t v) { return std::min(classes - 1, graph_.degree(v)); };
        std::array<std::uint32_t, classes + 1> begin{};
        for (const std::uint32_t v : order) ++begin[class_of(v) + 1];
        for (std::uint32_t c = 0; c < classes; ++c) begin[c + 1] += begin[c];
        std::vector<std::uint32_t> sorted(order.size());
        for (const std::uint32_t v : order) sorted[begin[class_of(v)]++] = v;
        return sorted;
    }

    void join(std::uint32_t v) {
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        std::uint32_t best_free = none;
        double best_free_rating = 0;
        std::uint32_t best_taken = none;
        double best_taken_rating = 0;
        std::uint32_t favorite = none;
        std::int64_t favorite_weight = -1;
        const auto mine = static_cast<double>(graph_.mass[v]);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const std::uint32_t u = peers[i];
            if (!label_.empty() && label_[u] != label_[v]) continue;
            if (weights[i] > favorite_weight) {
                favorite_weight = weights[i];
                favorite = u;
            }
            const bool taken = cluster_[u] != none;
            const std::int64_t other = taken ? mass_[cluster_[u]] : graph_.mass[u];
            if (graph_.mass[v] + other > max_mass_) continue;
            const auto w = static_cast<double>(weights[i]);
            const double rating = w * w / (std::max(1.0, mine) * std::max(1.0, static_cast<double>(other)));
            if (!taken && (best_free == none || rating > best_free_rating)) {
                best_free = u;
                best_free_rating = rating;
            } else if (taken && (best_taken == none || rating > best_taken_rating)) {
                best_taken = u;
                best_taken_rating = rating;
            }
        }
        if (best_free != none) {
            add(best_free, open(v));
        } else if (best_taken != none && mass_[cluster_[best_taken]] + graph_.mass[v] <= small_mass(v)) {
            add(v, cluster_[best_taken]);
        } else {
            meet(v, favorite);
        }
    }

    /// A vertex may become third in a cluster, but not make it much larger than pairs are.
    [[nodiscard]] std::int64_t small_mass(std::uint32_t v) const {
        return std::min(max_mass_, 4 * std::max<std::int64_t>(1, graph_.mass[v]));
    }

    /// Two vertices without a partner that prefer the same neighbor, or none at all, join each other.
    void meet(std::uint32_t v, std::uint32_t favorite) {
        std::uint32_t& other = favorite == none ? waiting_isolated_ : waiting_[favorite];
        if (favorite == none && !label_.empty()) return;
        if (other == none || cluster_[other] != none || graph_.mass[other] + graph_.mass[v] > max_mass_) {
            other = v;
        } else {
            add(other, open(v));
            other = none;
        }
    }

    std::uint32_t open(std::uint32_t v) {
        const auto c = static_cast<std::uint32_t>(mass_.size());
        mass_.push_back(0);
        add(v, c);
        return c;
    }
    void add(std::uint32_t v, std::uint32_t cluster) {
        cluster_[v] = cluster;
        mass_[cluster] += graph_.mass[v];
    }

    const WeightedGraph& graph_;
    std::int64_t max_mass_;
    std::span<const std::uint32_t> label_;
    std::vector<std::uint32_t> cluster_;
    std::vector<std::uint32_t> waiting_;  // by neighbor: who would have liked to join it
    std::uint32_t waiting_isolated_ = none;
    std::vector<std::int64_t> mass_;  // by cluster
};

/// Sums the edges between clusters, cluster by cluster.
WeightedGraph contract(const WeightedGraph& fine, const std::vector<std::uint32_t>& coarse_of,
                       const std::vector<std::int64_t>& masses) {
    const auto clusters = static_cast<std::uint32_t>(masses.size());
    WeightedGraph coarse;
    coarse.mass.assign(masses.begin(), masses.end());
    std::vector<std::uint32_t> begin(clusters + 1, 0);
    for (const std::uint32_t c : coarse_of) ++begin[c + 1];
    for (std::uint32_t c = 0; c < clusters; ++c) begin[c + 1] += begin[c];
    std::vector<std::uint32_t> members(coarse_of.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t v = 0; v < coarse_of.size(); ++v) members[next[coarse_of[v]]++] = v;

    coarse.first.reserve(clusters + 1);
    coarse.peer.reserve(fine.peer.size() * 2 / 3);
    coarse.weight.reserve(fine.peer.size() * 2 / 3);
    std::vector<std::uint32_t> place(clusters, none);  // of a peer in the row being made
    for (std::uint32_t c = 0; c < clusters; ++c) {
        const auto row = static_cast<std::uint32_t>(coarse.peer.size());
        for (std::uint32_t i = begin[c]; i < begin[c + 1]; ++i) {
            const std::uint32_t v = members[i];
            for (std::uint32_t e = fine.first[v]; e < fine.first[v + 1]; ++e) {
                const std::uint32_t to = coarse_of[fine.peer[e]];
                if (to == c) continue;
                if (place[to] == none || place[to] < row) {
                    place[to] = static_cast<std::uint32_t>(coarse.peer.size());
                    coarse.peer.push_back(to);
                    coarse.weight.push_back(fine.weight[e]);
                } else {
                    coarse.weight[place[to]] += fine.weight[e];
                }
            }
        }
        coarse.first.push_back(static_cast<std::uint32_t>(coarse.peer.size()));
    }
    return coarse;
}

}  // namespace

Coarsening coarsen(const WeightedGraph& graph, std::int64_t max_mass, Rng rng,
                   std::span<const std::uint32_t> label) {
    Joiner joiner(graph, max_mass, label);
    std::vector<std::uint32_t> coarse_of = joiner.run(rng);
    WeightedGraph coarse = contract(graph, coarse_of, joiner.masses());
    return {std::move(coarse), std::move(coarse_of)};
}

}  // namespace topoloom
