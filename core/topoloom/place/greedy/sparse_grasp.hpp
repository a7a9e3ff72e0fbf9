// SPDX-License-Identifier: BSD-3-Clause
// GRASP without matrices: randomized growth along the graph, each followed by exchange along its edges.
#pragma once

#include <span>

#include "topoloom/place/mapper.hpp"

namespace topoloom::greedy {

struct SparseGraspOptions {
    std::uint32_t alpha = 20;  // per mille of the ranks that wait, of which any may come next
    std::uint32_t beta =
        100;  // per mille of the slots, the most central ones, on which a component may start
    std::uint32_t restarts = 0;  // 0: fewer for more messages
};

/// The best of several starts, which run side by side: a random first rank, then those that exchange most with placed
/// ones, drawn from the best of them, each on the free slot with the least distance to its partners; then pairs of
/// ranks that are near in the graph are exchanged until none helps. `warm` placements are improved in the same way
/// before all others. A start costs about O(edges * log ranks) and swap's time; memory O(edges + slots).
[[nodiscard]] Placement grasp_along_edges(const Problem& problem, std::span<const Placement> warm,
                                          Meter& meter, const SparseGraspOptions& options);

}  // namespace topoloom::greedy
