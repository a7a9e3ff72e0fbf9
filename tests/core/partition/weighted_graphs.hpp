// SPDX-License-Identifier: BSD-3-Clause
// Small weighted graphs for the tests of partitioning.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom {

/// A graph with edges (u, v) -> weight, u < v.
using EdgeWeights = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

inline partition::WeightedGraph weighted_graph(const std::vector<std::int64_t>& mass,
                                               const EdgeWeights& edges) {
    std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> rows(mass.size());
    for (const auto& [ends, weight] : edges) {
        rows[ends.first].emplace_back(ends.second, weight);
        rows[ends.second].emplace_back(ends.first, weight);
    }
    partition::WeightedGraph graph;
    for (const auto& row : rows) {
        for (const auto& [peer, weight] : row) {
            graph.peer.emplace_back(peer);
            graph.weight.push_back(weight);
        }
        graph.first.push_back(static_cast<std::uint32_t>(graph.peer.size()));
    }
    graph.mass.assign(mass.begin(), mass.end());
    return graph;
}

/// A random graph with about `degree` edges per vertex, weights 0 .. max_weight, and masses 1 .. max_mass.
inline partition::WeightedGraph random_graph(std::uint32_t vertices, std::uint32_t degree,
                                             std::uint32_t max_weight, std::uint32_t max_mass, Rng rng) {
    std::vector<std::int64_t> mass;
    for (std::uint32_t v = 0; v < vertices; ++v) mass.push_back(1 + rng.below(max_mass));
    EdgeWeights edges;
    for (std::uint32_t i = 0; i < vertices * degree / 2; ++i) {
        const std::uint32_t u = rng.below(vertices);
        const std::uint32_t v = rng.below(vertices);
        if (u != v) edges[{std::min(u, v), std::max(u, v)}] = rng.below(max_weight + 1);
    }
    return weighted_graph(mass, edges);
}

inline partition::WeightedGraph grid_graph(std::uint32_t width, std::uint32_t height) {
    EdgeWeights edges;
    for (std::uint32_t v = 0; v < width * height; ++v) {
        if (v % width + 1 < width) edges[{v, v + 1}] = 1;
        if (v + width < width * height) edges[{v, v + width}] = 1;
    }
    return weighted_graph(std::vector<std::int64_t>(width * height, 1), edges);
}

inline partition::WeightedGraph star_graph(std::uint32_t vertices) {
    EdgeWeights edges;
    for (std::uint32_t v = 1; v < vertices; ++v) edges[{0, v}] = 1;
    return weighted_graph(std::vector<std::int64_t>(vertices, 1), edges);
}

inline partition::WeightedGraph clique_graph(std::uint32_t vertices) {
    EdgeWeights edges;
    for (std::uint32_t v = 0; v < vertices; ++v) {
        for (std::uint32_t u = 0; u < v; ++u) edges[{u, v}] = 1;
    }
    return weighted_graph(std::vector<std::int64_t>(vertices, 1), edges);
}

}  // namespace topoloom
