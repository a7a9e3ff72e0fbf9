// SPDX-License-Identifier: BSD-3-Clause
// Dense search for problems too large for it: on parts, then inside each of them.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom {

struct HybridOptions {
    std::uint32_t part = 125;
    void visit(auto& field) {
        field("part", part, Range{2, 1000}, "slots in a part; the last part may be smaller");
    }
};

/// Splits ranks and slots into parts of equal sizes, the slots by closeness (1 / distance to the nearest ones), the
/// ranks by bytes; maps parts of ranks to parts of slots by grasp() on the bytes and the average distances between
/// parts; then the ranks of each part to its slots by grasp() (Sudheer 2012, sec. 6.2.3). A part is only exchanged
/// for one of its size. About O(slots * part^2 + edges * log parts) on all cores.
[[nodiscard]] Placement place_hybrid(const Problem& problem, Meter& meter, const HybridOptions& options);

}  // namespace topoloom
