// SPDX-License-Identifier: BSD-3-Clause
// The Gilmore-Lawler bound for large sparse patterns, by classes of equal ranks and equal slots.
#pragma once

#include <cstdint>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// A lower bound on the hop-bytes of all placements. A rank's k heaviest partners sit no nearer than the k nearest
/// places; exact where all messages can be that short, as for a stencil on the torus of its shape. Equal to
/// gilmore_lawler_bound() where ranks with the same bytes to their partners and slots with the same distances are so few
/// kinds that these are assigned to each other; else every rank counts as if it had the best slot. O(edges * log degree
/// + slots * log slots * degree) on tori and trees; O(slots^2) where distances come from a table.
[[nodiscard]] std::int64_t sparse_bound(const BoundProblem& problem);

}  // namespace topoloom::bound
