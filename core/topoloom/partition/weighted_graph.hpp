// SPDX-License-Identifier: BSD-3-Clause
// An undirected graph with weights on vertices and edges: the form in which partitioning works.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Compressed sparse rows; every edge stands in the rows of both its ends. Vertices are plain numbers, since at the
/// coarser levels they stand for many ranks.
struct WeightedGraph {
    BigVector<std::uint32_t> first = BigVector<std::uint32_t>(1, 0);
    BigVector<std::uint32_t> peer;
    BigVector<std::int64_t> weight;  // of edges
    BigVector<std::int64_t> mass;    // of vertices

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(mass.size()); }
    [[nodiscard]] std::uint32_t degree(std::uint32_t v) const { return first[v + 1] - first[v]; }
    [[nodiscard]] std::span<const std::uint32_t> peers(std::uint32_t v) const {
        return {peer.data() + first[v], degree(v)};
    }
    [[nodiscard]] std::span<const std::int64_t> weights(std::uint32_t v) const {
        return {weight.data() + first[v], degree(v)};
    }
};

/// A symmetric communication graph with these masses of its ranks, edges weighing their bytes shifted right
/// by `shift`; without those that weigh nothing. O(edges), on all cores.
[[nodiscard]] WeightedGraph weighted(const CommGraph& symmetric, std::span<const std::int64_t> mass,
                                     int shift = 0, int threads = 1);

/// The graph whose vertex i is order[i] of this one; edges stay in the order of their rows. O(edges), on all
/// cores.
[[nodiscard]] WeightedGraph renumbered(const WeightedGraph& graph, std::span<const std::uint32_t> order,
                                       int threads);

}  // namespace topoloom
