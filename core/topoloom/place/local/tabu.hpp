// SPDX-License-Identifier: BSD-3-Clause
// Tabu search: performs the best exchange that does not undo a recent one, even if it raises the cost.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

struct TabuOptions {
    std::uint32_t iterations = 0;
    std::uint32_t dense = 1000;
    void visit(auto& field) {
        field("iterations", iterations, Range{0, 1e9},
              "exchanges performed in all; 0: 1000, or 10 per rank where only near ones are tried");
        field(
            "dense", dense, Range{0, 10000},
            "up to this number of slots all exchanges are examined each time, above it those of near ranks");
    }
};

/// Up to `dense` slots, runs solve_qap() on all slots, with one search that starts from the given placement.
/// Takes about 400 * slots^2 bytes of memory; an iteration costs O(slots^2) and is vectorized. Free slots are
/// modeled as ranks without messages.
///
/// On more slots, runs one search in which a rank exchanges slots with ranks near it in the graph, or moves
/// near its partners or back to its old slot. An iteration costs about O(degree^2). With an earlier
/// placement, migration costs count as in Problem::value(). Taillard, Parallel Computing 17 (1991). Throws
/// Error if the matrices do not fit in memory.
[[nodiscard]] Placement improve_by_tabu(const Problem& problem, Placement start, Meter& meter,
                                        const TabuOptions& options);

}  // namespace topoloom::local
