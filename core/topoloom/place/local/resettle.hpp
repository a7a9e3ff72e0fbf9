// SPDX-License-Identifier: BSD-3-Clause
// Remapping: starts from an earlier placement and moves a rank only if that pays.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

/// Every rank where it was; those that are new or whose slot is gone go where they cost least among the free slots,
/// those that exchange most first. Throws Error if the problem has no earlier placement.
[[nodiscard]] Placement place_previous(const Problem& problem, Meter& meter);

/// Exchanges of two ranks, moves to free slots and moves home, each only if hop-bytes fall by more than what moving
/// costs; until none is left. For a problem without an earlier placement it is a plain exchange search.
[[nodiscard]] Placement improve_by_resettling(const Problem& problem, Placement start, Meter& meter);

}  // namespace topoloom::local
