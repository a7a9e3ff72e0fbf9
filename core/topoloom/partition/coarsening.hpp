// SPDX-License-Identifier: BSD-3-Clause
// One level of coarsening by clustering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::partition {

struct Coarsening {
    WeightedGraph graph;
    std::vector<Vertex> coarse_of;  // coarse vertex of each fine vertex
};

/// Matches every vertex with the unmatched neighbor of the highest rating weight^2 / (mass * mass)
/// (Holtgrewe, Sanders, Schulz, IPDPS 2010, expansion*2). If all neighbors are matched, it joins a small
/// adjacent cluster or another vertex with the same preferred neighbor, so that stars shrink too. A cluster
/// has a mass of at most `max_mass`. With `label`, only vertices of the same part are joined. Isolated
/// vertices are joined with each other, fixed vertices with none. The visiting order is random. With a
/// `window`, it is random only inside consecutive windows of this many vertices, for locality in large graphs.
/// O(edges), partly on all threads.
[[nodiscard]] Coarsening coarsen(const WeightedGraph& graph, std::int64_t max_mass, Rng rng,
                                 std::span<const Part> label = {}, std::uint32_t window = 0, int threads = 1);

}  // namespace topoloom::partition
