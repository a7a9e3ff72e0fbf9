// SPDX-License-Identifier: BSD-3-Clause
// Lines through the slots of an allocation in which blocks of ranks lie together, whatever the allocation lacks.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::grid {

struct SlotLine {
    std::vector<Slot> slots;  // one for each rank
    /// After this number of slots, and multiples of it, the line turns into the next row: 8 and 64 on 8x8x8. Ascending.
    std::vector<std::size_t> turns;
};

/// The first `ranks` slots as they are allocated, and, unless nothing is missing and no slot is to spare, those of whole
/// blocks only, block by block: boxes of a torus or another network with coordinates, domains and parts of them
/// elsewhere, each such that blocks of its size divide the ranks. Large blocks come first; at most `most` lines.
/// Deterministic. O(lines * slots log slots). Throws Error if there are fewer slots than ranks.
[[nodiscard]] std::vector<SlotLine> slot_lines(const Allocation& allocation, std::size_t ranks,
                                               std::size_t most);

}  // namespace topoloom::grid
