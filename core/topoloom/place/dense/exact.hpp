// SPDX-License-Identifier: BSD-3-Clause
// Exact placement by branch and bound, for a few ranks or until the budget ends.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::dense {

/// Branch and bound from the best placement that `auto` finds in a tenth of the budget. Reports the proven lower
/// bound to the meter. Same result for any number of threads.
///
/// For hop-bytes, those of moving included: seconds up to 16 slots, minutes for 20 if most ranks talk to most, more for
/// sparse patterns that fit well. For congestion, in one phase without other traffic: up to about ten ranks; on a ring
/// bus with eight elements all assignments are tried. For ranks that share slots, see improve_sharing(). Throws Error
/// for other objectives, where the search would not fit in memory, and for congestion where routes depend on the load.
[[nodiscard]] Placement place_exact(const Problem& problem, Meter& meter);

/// A placement on shared slots and a lower bound of any.
struct SharingProof {
    Placement placement;
    std::int64_t lower_bound;
};
/// Improves a placement within the capacities to the optimum, unless the budget ends before: seconds for 16 ranks
/// on 8 slots or 24 on 4. One thread.
[[nodiscard]] SharingProof improve_sharing(const Problem& problem, const Placement& start, Meter& meter);

}  // namespace topoloom::dense
