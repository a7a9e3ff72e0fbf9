// SPDX-License-Identifier: BSD-3-Clause
// Moves fixed ranks to their slots in placements of mappers that ignore them.
#pragma once

#include <optional>

#include "topoloom/place/problem.hpp"

namespace topoloom::portfolio {

/// Puts the fixed ranks on their slots. Ranks that these displace go to the best free slots, those with most
/// bytes first; on shared slots, single ranks move at the lowest cost until all fit. None if such moves do not
/// suffice. O(ranks) if all fixed ranks are in place.
[[nodiscard]] std::optional<Placement> restore_fixed_ranks(const Problem& problem, Placement placement);

}  // namespace topoloom::portfolio
