// SPDX-License-Identifier: BSD-3-Clause
// Exact placement by branch and bound, for small problems or until the budget ends.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::dense {

/// Branch and bound from the best placement that `auto` finds in a tenth of the budget. Reports the proven
/// lower bound to the meter. The result does not depend on the number of threads.
///
/// Minimizes hop-bytes, including migration cost. Takes seconds for up to 16 slots, minutes for 20 if the
/// graph is dense, and longer for sparse patterns that fit the machine well. Also minimizes congestion, in
/// one phase without other traffic, for up to about ten ranks; on a ring bus with eight elements, it tries
/// all assignments. For ranks that share slots, see improve_shared_placement(). Throws Error for other
/// objectives, if the search would not fit in memory, and for congestion if routes depend on the load.
[[nodiscard]] Placement place_exact(const Problem& problem, Meter& meter);

/// A placement, and a lower bound of the hop-bytes of all placements, including migration cost.
struct ImprovedPlacement {
    Placement placement;
    std::int64_t lower_bound;
};
/// Improves a placement with one rank per slot to the fewest hop-bytes, unless the budget ends first. Takes
/// milliseconds for 8 slots, seconds for 16.
[[nodiscard]] ImprovedPlacement improve_hop_bytes(const Problem& problem, const Placement& start,
                                                  Meter& meter);
/// Improves a placement on shared slots to the optimum within the capacities, unless the budget ends first.
/// Takes seconds for 16 ranks on 8 slots or 24 on 4. Uses one thread.
[[nodiscard]] ImprovedPlacement improve_shared_placement(const Problem& problem, const Placement& start,
                                                         Meter& meter);

}  // namespace topoloom::dense
