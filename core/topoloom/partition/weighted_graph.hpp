// SPDX-License-Identifier: BSD-3-Clause
// An undirected graph with weights on vertices and edges: the form in which partitioning works.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::partition {

/// Compressed sparse rows; every edge stands in the rows of both its ends. At the finest level vertices have the numbers of
/// ranks; at coarser ones each stands for many.
struct WeightedGraph {
    BigVector<std::uint32_t> first = BigVector<std::uint32_t>(1, 0);
    BigVector<Vertex> peer;
    BigVector<std::int64_t> weight;  // of edges
    BigVector<std::int64_t> mass;    // of vertices

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

/// A symmetric communication graph with these masses of its ranks, edges weighing their bytes shifted right
/// by `shift`; without those that weigh nothing. O(edges), on all cores.
[[nodiscard]] WeightedGraph make_weighted_graph(const CommGraph& symmetric,
                                                std::span<const std::int64_t> mass, int shift = 0,
                                                int threads = 1);

/// The graph whose vertex i is order[i] of this one; edges stay in the order of their rows. O(edges), on all
/// cores.
[[nodiscard]] WeightedGraph renumber_graph(const WeightedGraph& graph, std::span<const Vertex> order,
                                           int threads);

}  // namespace topoloom::partition
