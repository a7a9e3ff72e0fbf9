// SPDX-License-Identifier: BSD-3-Clause
// The Gilmore-Lawler bound on quadratic assignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace topoloom::qap {

/// A lower bound on sum over i, j of a(i, j) * b(p[i], p[j]) + sum over i of linear(i, p[i]) over all permutations p, for
/// square matrices of one order, row-major; `linear` may be empty (Gilmore 1962; Lawler, Management Science 9, 1963).
/// O(order^3).
[[nodiscard]] std::int64_t gilmore_lawler_bound(std::size_t order, std::span<const std::int64_t> a,
                                                std::span<const std::int64_t> b,
                                                std::span<const std::int64_t> linear = {});

}  // namespace topoloom::qap
