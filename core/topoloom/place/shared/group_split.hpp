// SPDX-License-Identifier: BSD-3-Clause
// Splits a weighted graph into parts that are all equally far from each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/place/shared/evolution.hpp"

namespace topoloom::shared {

/// Splits the vertices into parts with a small cut weight, by multilevel recursive bisection and then
/// evolution of the whole split. The capacities must sum to at least the total mass. Parts respect their
/// capacities if the vertex masses permit.
[[nodiscard]] std::vector<Part> split_into_groups(const partition::WeightedGraph& graph,
                                                  std::span<const std::int64_t> capacity,
                                                  const partition::BisectionOptions& bisection,
                                                  const EvolutionOptions& evolution, std::uint64_t seed,
                                                  int threads, Meter& meter);

/// The subgraph of the listed vertices; `local` is scratch with one entry per vertex of the graph.
[[nodiscard]] partition::WeightedGraph make_subgraph(const partition::WeightedGraph& graph,
                                                     std::span<const Vertex> vertices,
                                                     std::vector<Vertex>& local);

}  // namespace topoloom::shared
