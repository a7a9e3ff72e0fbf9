// SPDX-License-Identifier: BSD-3-Clause
// Batches of items that can be processed in parallel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/base/parallel.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::multilevel {

/// Divides items into batches without neighbors by greedy coloring: each item gets the smallest color that no
/// earlier neighbor has. O(neighbors).
[[nodiscard]] inline std::vector<std::vector<std::uint32_t>> make_independent_batches(
    std::span<const std::vector<std::uint32_t>> neighbors) {
    std::vector<std::vector<std::uint32_t>> batches;
    std::vector<std::uint32_t> color(neighbors.size());
    std::vector<char> used;
    for (std::uint32_t i = 0; i < neighbors.size(); ++i) {
        used.assign(batches.size() + 1, 0);
        for (const std::uint32_t j : neighbors[i]) {
            if (j < i) used[color[j]] = 1;
        }
        color[i] = static_cast<std::uint32_t>(std::ranges::find(used, char{0}) - used.begin());
        if (color[i] == batches.size()) batches.emplace_back();
        batches[color[i]].push_back(i);
    }
    return batches;
}

constexpr std::uint32_t no_item = std::numeric_limits<std::uint32_t>::max();

/// The condition under which two items are neighbors.
enum class Adjacency {
    any_edge,
    many_edges  // at least 1/8 of the largest number of edges that one of the two shares with any item
};

/// An item, and the number of edges to it.
struct NeighborItem {
    std::uint32_t item;
    std::uint32_t edges;
};

/// Returns the neighbors of all items, symmetrically: many edges from the view of one item suffice.
[[nodiscard]] inline std::vector<std::vector<std::uint32_t>> select_neighbors(
    std::span<const std::vector<NeighborItem>> found, Adjacency adjacency) {
    constexpr std::uint32_t min_share = 8;
    std::vector<std::vector<std::uint32_t>> neighbors(found.size());
    for (std::uint32_t i = 0; i < found.size(); ++i) {
        std::uint32_t most = 0;
        for (const NeighborItem& other : found[i]) most = std::max(most, other.edges);
        for (const NeighborItem& other : found[i]) {
            if (adjacency == Adjacency::many_edges && other.edges < most / min_share) continue;
            neighbors[i].push_back(other.item);
            neighbors[other.item].push_back(i);
        }
    }
    return neighbors;
}

/// Batches of items that consist of parts of a graph. `ranks(p)` returns the vertices of part p; item[p] is
/// the item of part p, among `count` items, or no_item. Items of one batch must not read each other's
/// results, so that order and threads do not matter. O(edges), on all cores.
template <class Ranks>
[[nodiscard]] std::vector<std::vector<std::uint32_t>> make_independent_batches(
    const partition::WeightedGraph& graph, const Ranks& ranks, std::span<const Part> part_of,
    std::span<const std::uint32_t> item, std::uint32_t count, int threads, Adjacency adjacency) {
    struct Scratch {
        std::vector<std::uint32_t> edges;  // number of edges to every item
        std::vector<std::uint32_t> met;    // items with at least one edge
    };
    std::vector<std::vector<Part>> parts(count);
    for (std::uint32_t p = 0; p < item.size(); ++p) {
        if (item[p] != no_item) parts[item[p]].emplace_back(p);
    }
    std::vector<std::vector<NeighborItem>> found(count);
    std::vector<Scratch> scratch(static_cast<std::size_t>(thread_count(threads)));
    const Chunks chunks(count, std::clamp<std::size_t>(count / 256, 1, 64));
    parallel_for(chunks.size(), threads, [&](std::size_t c, int worker) {
        auto& [edges, met] = scratch[static_cast<std::size_t>(worker)];
        edges.resize(count, 0);
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
            for (const Part p : parts[i]) {
                for (const Vertex u : ranks(p)) {
                    for (const Vertex v : graph.peers(u)) {
                        const std::uint32_t other = item[part_of[v.value].value];
                        if (other == i || other == no_item) continue;
                        if (edges[other]++ == 0) met.push_back(other);
                    }
                }
            }
            for (const std::uint32_t other : met) {
                found[i].push_back({other, edges[other]});
                edges[other] = 0;
            }
            met.clear();
        }
    });
    return make_independent_batches(select_neighbors(found, adjacency));
}

}  // namespace topoloom::multilevel
