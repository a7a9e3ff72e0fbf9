// SPDX-License-Identifier: BSD-3-Clause
// Remaps ranks: starts from an earlier placement and moves a rank only if the gain exceeds the migration
// cost.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

/// Returns the earlier placement. New ranks, and ranks whose slot is gone, are put on the cheapest free
/// slots, in descending order of bytes exchanged. Throws Error if the problem has no earlier placement.
[[nodiscard]] Placement place_previous(const Problem& problem, Meter& meter);

/// Exchanges pairs of ranks, and moves ranks to free slots or back to their old slots, if hop-bytes fall by
/// more than the migration cost. Ends when no such change remains. Without an earlier placement, this is
/// plain pair exchange.
[[nodiscard]] Placement improve_by_resettling(const Problem& problem, Placement start, Meter& meter);

}  // namespace topoloom::local
