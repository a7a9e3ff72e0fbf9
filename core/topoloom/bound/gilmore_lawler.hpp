// SPDX-License-Identifier: BSD-3-Clause
// The Gilmore-Lawler bound: every rank's messages as short as they can be, on slots that differ.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom {

/// A lower bound on the hop-bytes of all placements (Gilmore 1962; Lawler, Management Science 9, 1963): what a rank's
/// messages cost on a slot, its heaviest partners nearest, and then the best assignment of ranks to slots. O(ranks *
/// slots * diameter) and O(ranks^2 * slots) for the assignment; memory 8 bytes for every pair of a rank and a slot.
[[nodiscard]] std::int64_t gilmore_lawler_bound(const BoundProblem& problem);

/// The same for sum over i, j of a(i, j) * b(p[i], p[j]) + sum over i of alone(i, p[i]), for any square matrices of one
/// order, row-major; `alone` may be empty. O(order^3).
[[nodiscard]] std::int64_t gilmore_lawler_bound(std::size_t order, std::span<const std::int64_t> a,
                                                std::span<const std::int64_t> b,
                                                std::span<const std::int64_t> alone = {});

}  // namespace topoloom
