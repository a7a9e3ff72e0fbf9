// SPDX-License-Identifier: BSD-3-Clause
// Placements that ignore the graph: launcher orders and random.
#pragma once

#include <span>

#include "topoloom/place/mapper.hpp"

namespace topoloom::simple {

/// Rank i on the i-th slot of the allocation.
[[nodiscard]] Placement place_block(const Problem& problem, Meter& meter);

/// One rank on every node in turn, again and again; full nodes are passed over. Ranks that share slots: rank i on slot
/// i mod slots, as far as its capacity goes.
[[nodiscard]] Placement place_round_robin(const Problem& problem, Meter& meter);

/// Like round-robin, with the order of the nodes reversed in every other round (Cray's folded-rank placement).
[[nodiscard]] Placement place_folded(const Problem& problem, Meter& meter);

/// Ranks on a random choice of slots, equally many on each where they share them; the same for the same seed on every
/// computer.
[[nodiscard]] Placement place_random(const Problem& problem, Meter& meter);

/// The i-th of these ranks on the slot at the i-th of these positions; shared slots are filled in this
/// order, each to the same part of its capacity. Both are permutations.
[[nodiscard]] Placement place_in_order(const Problem& problem, std::span<const Rank> ranks,
                                       std::span<const Position> positions);

}  // namespace topoloom::simple
