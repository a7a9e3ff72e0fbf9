// SPDX-License-Identifier: BSD-3-Clause
// A locality-preserving order of ranks, and the distances between its parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Along a Hilbert curve through the coordinates of nodes, or by the number of slots where nodes have none: machines number
/// them branch by branch. Ranks of one slot are in ascending order. O(ranks log ranks).
[[nodiscard]] std::vector<std::uint32_t> near_order(const Machine& machine, std::span<const Slot> slots);

/// How late two neighbors in an order of ranks should meet, by the first of them: the later, the farther they are apart; where
/// they are as far as others, parts of two meet before parts of four, and these before parts of eight.
[[nodiscard]] std::vector<std::uint64_t> meeting_times(const Machine& machine, std::span<const Slot> slots,
                                                       std::span<const std::uint32_t> order);

}  // namespace topoloom
