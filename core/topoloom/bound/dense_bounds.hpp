// SPDX-License-Identifier: BSD-3-Clause
// Bounds on hop-bytes by quadratic assignment. A slot of capacity k is k locations.
#pragma once

#include <cstdint>
#include <optional>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// Gilmore-Lawler bound on the hop-bytes of all placements (Gilmore 1962; Lawler, Management Science 9,
/// 1963): for each rank and slot, the minimum cost of the rank's messages from there, with the heaviest
/// partners nearest; then the best assignment of ranks to slots. O(ranks * slots * diameter) and
/// O(ranks^2 * slots) for the assignment; memory 8 bytes per rank and slot.
[[nodiscard]] std::int64_t gilmore_lawler_bound(const BoundProblem& problem);

/// Projection bound on the hop-bytes of all placements (see qap/projection.hpp). It is strong if many ranks
/// have many partners. Returns none if distances differ between the two directions, or for more than
/// max_projection_order places. O(places^3).
[[nodiscard]] std::optional<std::int64_t> projection_bound(const BoundProblem& problem);

/// Dual-ascent bound on the hop-bytes of all placements: the strongest one here, for up to some hundred
/// ranks. Stops when a sweep gains little or the budget is spent. Returns none if distances differ between
/// the two directions, or if the costs of pairs need more than 1 GiB: edges * places^2.
[[nodiscard]] std::optional<std::int64_t> dual_ascent_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom::bound
