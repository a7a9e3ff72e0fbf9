// SPDX-License-Identifier: BSD-3-Clause
// Placements that look at the slots only: the orders that launchers offer, chance, and a space-filling curve.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom {

/// Rank i on the i-th slot of the allocation.
[[nodiscard]] Placement place_block(const Problem& problem, Meter& meter);

/// One rank on every node in turn, again and again; full nodes are passed over.
[[nodiscard]] Placement place_round_robin(const Problem& problem, Meter& meter);

/// Like round-robin, with the order of the nodes reversed in every other round (Cray's folded-rank placement).
[[nodiscard]] Placement place_folded(const Problem& problem, Meter& meter);

/// Ranks on a random choice of slots; the same for the same seed on every computer.
[[nodiscard]] Placement place_random(const Problem& problem, Meter& meter);

/// Rank i on the i-th slot along a Hilbert curve, see hilbert_order().
[[nodiscard]] Placement place_hilbert(const Problem& problem, Meter& meter);

}  // namespace topoloom
