// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening: vertices that belong together become one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::partition {

struct Coarsening {
    WeightedGraph graph;
    std::vector<Vertex> coarse_of;  // by vertex of the finer graph
};

/// Joins every vertex with the unjoined neighbor of the best rating weight^2 / (mass * mass) (Holtgrewe, Sanders,
/// Schulz, IPDPS 2010, expansion*2), or where all neighbors are taken, with a small cluster beside it or with another
/// vertex that prefers the same neighbor, so that stars shrink too. No cluster becomes heavier than `max_mass`; where
/// `label` is given, only vertices of one of these parts are joined. Isolated vertices are joined with each other.
/// Vertices are visited at random; with a `window` at random among this many neighboring numbers after
/// the other, so that large graphs whose numbers follow their structure are read in order. O(edges),
/// partly on all threads.
[[nodiscard]] Coarsening coarsen(const WeightedGraph& graph, std::int64_t max_mass, Rng rng,
                                 std::span<const Part> label = {}, std::uint32_t window = 0, int threads = 1);

}  // namespace topoloom::partition
