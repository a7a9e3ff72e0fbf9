// SPDX-License-Identifier: BSD-3-Clause
// Undirected graph with vertex masses and edge weights, for partitioning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::partition {

/// Compressed sparse rows; every edge is stored at both ends. At the finest level, vertices are ranks;
/// coarser vertices represent several ranks.
struct WeightedGraph {
    BigVector<std::uint32_t> first = BigVector<std::uint32_t>(1, 0);
    BigVector<Vertex> peer;
    BigVector<std::int64_t> weight;  // of edges
    BigVector<std::int64_t> mass;    // of vertices
    std::vector<char> fixed;         // whether a vertex stays in its part; empty: none does

    [[nodiscard]] bool is_fixed(Vertex v) const { return !fixed.empty() && fixed[v.value] != 0; }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(mass.size()); }
    [[nodiscard]] ids<Vertex> vertices() const { return ids<Vertex>(mass.size()); }
    [[nodiscard]] std::uint32_t degree(Vertex v) const { return first[v.value + 1] - first[v.value]; }
    [[nodiscard]] std::span<const Vertex> peers(Vertex v) const {
        return {peer.data() + first[v.value], degree(v)};
    }
    [[nodiscard]] std::span<const std::int64_t> weights(Vertex v) const {
        return {weight.data() + first[v.value], degree(v)};
    }
};

/// Makes a weighted graph from a symmetric communication graph. Edge weights are bytes shifted right by
/// `shift`; edges of weight 0 are dropped. O(edges), on all cores.
[[nodiscard]] WeightedGraph make_weighted_graph(const CommGraph& symmetric,
                                                std::span<const std::int64_t> mass, int shift = 0,
                                                int threads = 1);

/// Permutes a graph: vertex i of the result is order[i]. Keeps the edge order within rows. O(edges), on all
/// cores.
[[nodiscard]] WeightedGraph renumber_graph(const WeightedGraph& graph, std::span<const Vertex> order,
                                           int threads);

}  // namespace topoloom::partition
