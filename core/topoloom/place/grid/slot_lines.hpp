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
    /// Numbers of slots after which, and after every multiple of which, the line turns into the next row: 8
    /// and 64 on 8x8x8. Ascending.
    std::vector<std::size_t> turns;
};

/// Lines through slots. The first line consists of the first `ranks` slots in allocation order. If the
/// allocation has gaps or spare slots, other lines run block by block through the slots of whole blocks.
/// Block sizes divide the number of ranks. Blocks are boxes if the network has coordinates, otherwise domains
/// and parts of domains. Lines with large blocks come first; at most `most` lines.
/// Deterministic. O(lines * slots log slots). Throws Error if there are fewer slots than ranks.
[[nodiscard]] std::vector<SlotLine> slot_lines(const Allocation& allocation, std::size_t ranks,
                                               std::size_t most);

}  // namespace topoloom::grid
