// SPDX-License-Identifier: BSD-3-Clause
// Branch and bound for hop-bytes of few ranks on many slots.
#pragma once

#include "topoloom/place/dense/enumerate_placements.hpp"

namespace topoloom::dense {

/// Whether search_few_ranks() supports the problem: hop-bytes, one rank per slot, no earlier placement, at most
/// 10 ranks and 1,024 slots.
[[nodiscard]] bool has_few_ranks(const Problem& problem);

/// Improves a placement to the fewest hop-bytes, unless the budget ends first. Ranks are placed one by one,
/// first those that exchange the most bytes with ranks already placed. The bound of a partial placement is, for
/// every other rank, the least cost of a free slot: the messages to placed ranks, and half of those to other
/// ranks, which at best are on the nearest slots, the heaviest on the nearest (Gilmore 1962; Lawler 1963). Of
/// free slots with equal distances, and of first slots that are equivalent by a symmetry of the distances, only
/// one is tried. Distances must be symmetric; otherwise returns `start`. Work counts slots evaluated, in units of 100.
[[nodiscard]] EnumerationResult search_few_ranks(const Problem& problem, const Placement& start,
                                                 Meter& meter);

}  // namespace topoloom::dense
