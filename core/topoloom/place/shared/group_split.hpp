// SPDX-License-Identifier: BSD-3-Clause
// Splits a weighted graph into equidistant parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/place/shared/evolution.hpp"

namespace topoloom::shared {

/// The part of every vertex: multilevel recursive bisections, then evolution of the whole split, on the weight of the
/// edges between parts. Parts stay within their capacities, which must hold all mass, wherever the masses allow it.
[[nodiscard]] std::vector<Part> split_in_groups(const partition::WeightedGraph& graph,
                                                std::span<const std::int64_t> capacity,
                                                const partition::BisectionOptions& bisection,
                                                const EvolutionOptions& evolution, std::uint64_t seed,
                                                int threads, Meter& meter);

/// The part of a graph whose vertices are listed; `local` is scratch for all vertices of the graph.
[[nodiscard]] partition::WeightedGraph subgraph(const partition::WeightedGraph& graph,
                                                std::span<const Vertex> vertices, std::vector<Vertex>& local);

}  // namespace topoloom::shared
