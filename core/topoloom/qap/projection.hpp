// SPDX-License-Identifier: BSD-3-Clause
// The projection bound on quadratic assignment, from the eigenvalues of both matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace topoloom::qap {

inline constexpr std::size_t max_projection_order = 2048;

/// Returns a lower bound, for all permutations p, on the sum over i, j of a(i, j) * b(p[i], p[j]). Also
/// called elimination bound (Hadley, Rendl, Wolkowicz, Math. of OR 17, 1992). The maximum rounding error is
/// subtracted, so the bound is rigorous. Matrices are row-major. Returns nullopt for asymmetric matrices and
/// for orders above max_projection_order. O(order^3).
[[nodiscard]] std::optional<std::int64_t> projection_bound(std::size_t order, std::span<const std::int64_t> a,
                                                           std::span<const std::int64_t> b);

}  // namespace topoloom::qap
