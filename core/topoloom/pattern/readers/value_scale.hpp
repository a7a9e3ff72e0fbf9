// SPDX-License-Identifier: BSD-3-Clause
// Converts values of a file, which may be fractions, into bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

/// A factor for all values, and the number of values that were rounded after it.
struct ValueScale {
    double factor = 1;
    std::uint64_t rounded = 0;
};

/// Multiplies the value that was just read and rounds it. Products such as 0.57 * 100, which only floating-point
/// arithmetic keeps from being an integer, do not count as rounded.
inline Bytes scale_value(double value, TextScanner& scan, std::string_view expected, ValueScale& scale) {
    const double product = value * scale.factor;
    const double nearest = std::nearbyint(product);
    if (!(nearest < 0x1p63)) scan.fail_at_previous(expected, " times the scale is 2^63 bytes or more");
    if (std::abs(nearest - product) > 1e-9 * product) ++scale.rounded;
    return Bytes{static_cast<std::int64_t>(nearest)};
}

/// Reads a value and multiplies it; without a scale, it must be an integer.
inline Bytes read_value(TextScanner& scan, std::string_view expected, ValueScale* scale) {
    if (scale == nullptr) return scan.read_bytes(expected);
    return scale_value(scan.read_real(expected), scan, expected, *scale);
}

}  // namespace topoloom
