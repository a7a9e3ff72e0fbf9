// SPDX-License-Identifier: BSD-3-Clause
// The best of all placements, proven: for a few ranks, or for as long as the budget lasts.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::dense {

/// Branch and bound from the best placement that `auto` finds in a tenth of the budget. The meter learns what is proven:
/// the value itself, or less if the budget ended the search. Same result for any number of threads.
///
/// For hop-bytes, those of moving included: seconds up to 16 slots, minutes for 20 if most ranks talk to most, more for
/// sparse patterns that fit well. For congestion, in one phase without other traffic: up to about ten ranks; on a ring
/// bus with eight elements all assignments are tried. Throws Error for other objectives, where the search would not fit in
/// memory, and for congestion where routes depend on the load.
[[nodiscard]] Placement place_exact(const Problem& problem, Meter& meter);

}  // namespace topoloom::dense
