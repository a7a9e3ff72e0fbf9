// SPDX-License-Identifier: BSD-3-Clause
// GRASP without matrices: randomized greedy growth along the graph, followed by exchanges along edges.
#pragma once

#include <span>

#include "topoloom/place/mapper.hpp"

namespace topoloom::greedy {

struct SparseGraspOptions {
    std::uint32_t alpha = 20;  // how many of the waiting ranks, in per mille, may come next
    std::uint32_t beta =
        100;  // per mille of the slots, the most central ones, that may hold a component's first rank
    std::uint32_t restarts = 0;  // 0: fewer for more messages
};

/// The best of several parallel starts. Each start places a random first rank; then it draws ranks from
/// those that exchange most with placed ones, and puts each on the free slot with the smallest distance to
/// its partners. Then pairs of ranks that are near in the graph are exchanged until no exchange helps.
/// Placements in `warm` are improved first, in the same way. A start costs about O(edges * log ranks) and
/// swap's time; memory O(edges + slots).
[[nodiscard]] Placement grasp_along_edges(const Problem& problem, std::span<const Placement> warm,
                                          Meter& meter, const SparseGraspOptions& options);

}  // namespace topoloom::greedy
