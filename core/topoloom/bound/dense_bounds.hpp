// SPDX-License-Identifier: BSD-3-Clause
// Bounds on hop-bytes by quadratic assignment. A slot of capacity k is k locations.
#pragma once

#include <cstdint>
#include <optional>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// A lower bound on the hop-bytes of all placements, after Gilmore 1962 and Lawler (Management Science 9, 1963): the
/// cost of a rank's messages from a slot, its heaviest partners nearest, and then the best assignment of ranks to slots.
/// O(ranks * slots * diameter) and O(ranks^2 * slots) for the assignment; memory 8 bytes for every pair of a rank and a slot.
[[nodiscard]] std::int64_t gilmore_lawler_bound(const BoundProblem& problem);

/// A lower bound on the hop-bytes of all placements, see qap/projection.hpp: strong where many ranks talk to many others.
/// Nothing if distances differ between the two directions, or for more than max_projection_order places.
/// O(places^3).
[[nodiscard]] std::optional<std::int64_t> projection_bound(const BoundProblem& problem);

/// A lower bound on the hop-bytes of all placements: the strongest here, for up to some hundred ranks. Sweeps until one
/// gains little or the budget is spent. Nothing if distances differ between the two directions, or the costs of
/// pairs need more than 1 GiB: edges * places^2.
[[nodiscard]] std::optional<std::int64_t> dual_ascent_bound(const BoundProblem& problem, Meter& meter);

}  // namespace topoloom::bound
