// SPDX-License-Identifier: BSD-3-Clause
// The best bisection of a graph of a few vertices.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::partition {

/// Up to this number of vertices, trying all bisections takes less time than one pass of a search.
inline constexpr std::uint32_t max_exhaustive_vertices = 4;

/// Returns the bisection with the least excess and, among these, the least cost; `start` if it is one of them.
/// Arguments as for bisect(). O(2^vertices * edges), without memory allocation besides the result.
[[nodiscard]] Bisection bisect_exhaustively(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                                            std::array<std::int64_t, 2> capacity, std::vector<char> start);

}  // namespace topoloom::partition
