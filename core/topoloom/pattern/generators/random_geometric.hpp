// SPDX-License-Identifier: BSD-3-Clause
// Random geometric graph in the unit square: an irregular pattern with locality.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Makes the graph. Ranks are uniform random points, numbered in the order in which they are drawn. So
/// neighbors have unrelated numbers. Points closer than a radius send `bytes` to each other. The radius is
/// chosen for an expected degree of `average_degree`, including the effect of the square's border. O(n
/// degree) time and O(n) memory besides the graph. Throws Error for n = 0, 2^31 or more ranks, bytes < 0, and
/// a degree outside 0 .. 0.97 (n - 1). Source: M. Penrose, Random Geometric Graphs, Oxford University Press,
/// 2003.
[[nodiscard]] CommGraph random_geometric(std::size_t rank_count, Bytes bytes, std::uint64_t seed,
                                         double average_degree);

}  // namespace topoloom
