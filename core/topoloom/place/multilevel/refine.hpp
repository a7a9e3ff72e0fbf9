// SPDX-License-Identifier: BSD-3-Clause
// Refines placements with shared slots (more ranks than slots).
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::multilevel {

struct RefineOptions {
    std::uint32_t cycles = 1;
    std::uint32_t family = 0;
    std::uint32_t cuts = 3;
    std::uint32_t patience = 20;
    void visit(auto& field) {
        field("cycles", cycles, Range{0, 1e6}, "times that the graph is coarsened and refined again");
        field("family", family, Range{0, 64}, "further placements, made by multisection, to combine with");
        field("cuts", cuts, Range{0, 1000}, "rounds of minimum cuts between slots after each local search");
        field("patience", patience, Range{1, 1e6}, "moves without gain before a local search gives up");
    }
};

/// Moves single ranks to lower hop-bytes within the slots' capacities, on the graph and on coarser graphs
/// whose vertices are ranks of one slot (iterated multilevel: Walshaw, Annals of OR 131 (2004)). With a
/// family of placements, it also combines pairs of them: ranks that share a slot in both stay together
/// (Sanders, Schulz, ALENEX 2012). If every rank has a separate slot, use swap, rotate and anneal instead.
/// About O(edges) per cycle.
[[nodiscard]] Placement refine_shared(const Problem& problem, Placement start, Meter& meter,
                                      const RefineOptions& options);

}  // namespace topoloom::multilevel
