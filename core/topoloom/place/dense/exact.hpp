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
/// bus with eight elements all assignments are tried. For ranks that share slots, see improve_sharing(). Throws Error
/// for other objectives, where the search would not fit in memory, and for congestion where routes depend on the load.
[[nodiscard]] Placement place_exact(const Problem& problem, Meter& meter);

/// Ranks that share slots, and what no placement of them costs less than.
struct SharingProof {
    Placement placement;
    std::int64_t lower_bound;
};
/// From a placement that keeps the capacities to the best there is, unless the budget ends before: seconds for 16 ranks
/// on 8 slots or 24 on 4. One thread.
[[nodiscard]] SharingProof improve_sharing(const Problem& problem, const Placement& start, Meter& meter);

}  // namespace topoloom::dense
