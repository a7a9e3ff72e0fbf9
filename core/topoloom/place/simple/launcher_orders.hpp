// SPDX-License-Identifier: BSD-3-Clause
// Placements that ignore the graph: launcher orders and random.
#pragma once

#include <span>

#include "topoloom/place/mapper.hpp"

namespace topoloom::simple {

/// Puts rank i on the i-th slot of the allocation.
[[nodiscard]] Placement place_block(const Problem& problem, Meter& meter);

/// Puts one rank on each node in turn, then starts over; skips full nodes. If ranks share slots, puts rank i
/// on slot i mod slots, within the capacities.
[[nodiscard]] Placement place_round_robin(const Problem& problem, Meter& meter);

/// Like round-robin, with the order of the nodes reversed in every other round (Cray's folded-rank
/// placement).
[[nodiscard]] Placement place_folded(const Problem& problem, Meter& meter);

/// Puts the ranks on random slots, evenly if they share slots. The result depends only on the seed.
[[nodiscard]] Placement place_random(const Problem& problem, Meter& meter);

/// Puts the i-th of `ranks` on the slot at the i-th of `positions`. If ranks share slots, fills the slots in
/// this order, each to the same fraction of its capacity. Both arguments are permutations.
[[nodiscard]] Placement place_in_order(const Problem& problem, std::span<const Rank> ranks,
                                       std::span<const Position> positions);

}  // namespace topoloom::simple
