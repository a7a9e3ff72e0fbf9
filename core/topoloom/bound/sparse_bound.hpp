// SPDX-License-Identifier: BSD-3-Clause
// The Gilmore-Lawler bound for large sparse patterns, by classes of equivalent ranks and slots.
#pragma once

#include <cstdint>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// A lower bound on the hop-bytes of all placements: a rank's k heaviest partners are at least as far as the
/// k nearest places. Exact if some placement makes all messages that short, as for a stencil on a torus of
/// the same shape. Ranks with equal bytes to their partners and slots with equal distances form classes. If
/// the classes are few enough to be assigned to each other, the bound equals gilmore_lawler_bound();
/// otherwise it assumes that every rank has the best slot. O(edges * log degree + slots * log slots * degree)
/// on tori and trees; O(slots^2) for distance tables.
[[nodiscard]] std::int64_t sparse_bound(const BoundProblem& problem);

}  // namespace topoloom::bound
