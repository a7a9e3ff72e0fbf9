// SPDX-License-Identifier: BSD-3-Clause
// A smooth surrogate of the maximum, in integers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace topoloom {

constexpr double soft_unit = 0x1p20;  // the term of a load that equals the scale

/// Returns x^8, limited to 2^20, in fixed point with unit 2^-20. Integer sums do not accumulate rounding
/// errors.
[[nodiscard]] inline std::int64_t soft_term(double x) {
    constexpr double most = 0x1p20 * soft_unit;
    const double x2 = x * x;
    const double x4 = x2 * x2;
    return static_cast<std::int64_t>(std::min(most, x4 * x4 * soft_unit));
}

}  // namespace topoloom
