// SPDX-License-Identifier: BSD-3-Clause
// The projection bound on quadratic assignment, from the eigenvalues of both matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace topoloom::qap {

inline constexpr std::size_t max_projection_order = 2048;

/// A lower bound on sum over i, j of a(i, j) * b(p[i], p[j]) over all permutations p, also called elimination bound
/// (Hadley, Rendl, Wolkowicz, Math. of OR 17, 1992). What rounding can have added is taken off, so that it is a proof.
/// Nothing unless both matrices, row-major, are symmetric, or for an order above max_projection_order. O(order^3).
[[nodiscard]] std::optional<std::int64_t> projection_bound(std::size_t order, std::span<const std::int64_t> a,
                                                           std::span<const std::int64_t> b);

}  // namespace topoloom::qap
