// SPDX-License-Identifier: BSD-3-Clause
// The projection bound: eigenvalues of what ranks exchange against those of distances.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom {

/// A lower bound on the hop-bytes of all placements, also called elimination bound (Hadley, Rendl, Wolkowicz, Math. of
/// OR 17, 1992). Strong where many ranks talk to many others. What rounding can have added is taken off, so that it is
/// a proof. Nothing where distances differ between the two ways, or for more than 2,048 places. O(places^3).
[[nodiscard]] std::optional<std::int64_t> projection_bound(const BoundProblem& problem);

/// The same for sum over i, j of a(i, j) * b(p[i], p[j]); nothing unless both matrices are symmetric.
[[nodiscard]] std::optional<std::int64_t> projection_bound(std::size_t order, std::span<const std::int64_t> a,
                                                           std::span<const std::int64_t> b);

}  // namespace topoloom
