// SPDX-License-Identifier: BSD-3-Clause
// A locality-preserving order of ranks, and the distances between its parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Orders ranks along a Hilbert curve through the coordinates of nodes, or by slot number if nodes have no
/// coordinates; nearby slots have similar numbers, because machines number slots branch by branch. Ranks of
/// one slot are in ascending order. O(ranks log ranks).
[[nodiscard]] std::vector<std::uint32_t> near_order(const Machine& machine, std::span<const Slot> slots);

/// Computes when the parts of adjacent ranks merge: the farther apart the ranks, the later. Indexed by the
/// first rank of each pair. At equal distance, pairs merge before groups of four, and these before groups of
/// eight.
[[nodiscard]] std::vector<std::uint64_t> meeting_times(const Machine& machine, std::span<const Slot> slots,
                                                       std::span<const std::uint32_t> order);

}  // namespace topoloom
