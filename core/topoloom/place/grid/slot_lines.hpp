// SPDX-License-Identifier: BSD-3-Clause
// Lines through the slots of an allocation that keep blocks of ranks together, even if the allocation has
// gaps.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::grid {

struct SlotLine {
    std::vector<Slot> slots;  // slots along the line, one per rank
    /// Slot counts after which the line turns into the next row, and again after every multiple: 8 and 64 on
    /// 8x8x8. Ascending.
    std::vector<std::size_t> turns;
};

/// The first `ranks` slots in allocation order. If slots are missing or to spare, also the slots of whole
/// blocks only, block by block, for block sizes that divide the ranks. Blocks are boxes of a network with
/// coordinates, otherwise domains and parts of domains. Large blocks come first; at most `most` lines.
/// Deterministic. O(lines * slots log slots). Throws Error if there are fewer slots than ranks.
[[nodiscard]] std::vector<SlotLine> slot_lines(const Allocation& allocation, std::size_t ranks,
                                               std::size_t most);

}  // namespace topoloom::grid
