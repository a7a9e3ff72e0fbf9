// SPDX-License-Identifier: BSD-3-Clause
// The graph of the ranks of one part, for dividing it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/place/multilevel/machine_part.hpp"

namespace topoloom::multilevel {

/// All ranks, and the parts to which they are assigned.
struct DividedGraph {
    const partition::WeightedGraph& graph;
    std::span<const Part> part_of;
    std::span<Vertex> local;  // scratch space: by vertex, its number in the graph of its part
    const MachineParts& machine;
};

/// Weights are bytes times the distance between the pieces. For two pieces, bias[i] is how much more the
/// second piece costs rank i than the first, due to partners in other parts. `bias` is empty if all values are
/// 0 or if there are more than two pieces.
struct PartGraph {
    partition::WeightedGraph graph;
    std::vector<std::int64_t> bias;
};

/// Extracts the graph of the ranks `mine`, which are those of the parts within[0] to within[1]. O(edges of
/// these ranks), on all threads.
[[nodiscard]] PartGraph extract_part(const DividedGraph& all, std::span<const Vertex> mine,
                                     std::array<std::uint32_t, 2> within, std::span<const MachinePart> pieces,
                                     int threads);

}  // namespace topoloom::multilevel
