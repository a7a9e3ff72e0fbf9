// SPDX-License-Identifier: BSD-3-Clause
// Enumeration of all placements of few ranks, for any objective.
#pragma once

#include "topoloom/place/problem.hpp"

namespace topoloom::dense {

/// The most nodes, and the most placements up to symmetry, with which an enumeration may end in a fraction of
/// a second. Bounds usually leave less than one placement in 10^5.
inline constexpr std::size_t max_enumerated_nodes = 64;
inline constexpr double max_enumerated_placements = 1e12;

/// Whether enumerate_placements() supports the problem and may end soon: one rank per slot, no earlier
/// placement, few nodes and placements. O(nodes^3 * hops).
[[nodiscard]] bool is_enumerable(const Problem& problem);

struct EnumerationResult {
    Placement placement;
    bool is_optimal;  // false if the budget ended the search
};

/// Returns a placement with the lowest objective, and the fewest hop-bytes among those that it visited. Ranks
/// are placed one by one, first those that exchange the most bytes with ranks already placed, on one slot of
/// each class of interchangeable free slots and nodes (SlotClasses). A partial placement is dropped if
/// PartialObjective proves that it cannot improve on the best placement; values closer than 10^-9 are equal.
/// Never returns a worse placement than `start`. Work counts messages of placed ranks.
[[nodiscard]] EnumerationResult enumerate_placements(const Problem& problem, const Placement& start,
                                                     Meter& meter);

}  // namespace topoloom::dense
