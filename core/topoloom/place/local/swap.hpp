// SPDX-License-Identifier: BSD-3-Clause
// Pair exchange: a local search that swaps two ranks or moves a rank to a free slot.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

struct SwapOptions {
    std::uint32_t reach = 3;
    std::uint32_t candidates = 256;
    void visit(auto& field) {
        field("reach", reach, Range{1, 100}, "exchange ranks that are at most this many messages apart");
        field("candidates", candidates, Range{1, 1e9},
              "maximum number of partners tried for a rank in one visit");
    }
};

/// Exchanges two ranks, or moves a rank to the best free slot, if that lowers hop-bytes. Visits the ranks
/// whose surroundings changed until none remains (a local optimum of this neighborhood) or the budget ends.
/// Exchange partners are near in the communication graph (Brandfass, Alrutz, Gerhold, Computers & Fluids 80
/// (2013), sec. 4; Schulz, Traeff, ALENEX 2017). One evaluation costs O(degree of both ranks). Work counts
/// evaluations.
[[nodiscard]] Placement improve_by_swaps(const Problem& problem, Placement start, Meter& meter,
                                         const SwapOptions& options);

}  // namespace topoloom::local
