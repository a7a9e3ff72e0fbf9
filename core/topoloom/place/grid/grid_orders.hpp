// SPDX-License-Identifier: BSD-3-Clause
// Lines through all points of a grid, complete or not: row by row, back and forth, with any axis the fastest.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom::grid {

/// Points with coordinates on a few axes, `axes` numbers each.
struct GridPoints {
    Extents extent;
    std::vector<std::uint32_t> at;  // point by point

    [[nodiscard]] std::size_t axes() const { return extent.size(); }
    [[nodiscard]] std::size_t size() const { return at.size() / extent.size(); }
};

/// The i-th line through the points, as their indices: lines with odd i run every other row backwards (a reflected
/// mixed-radix Gray code, so that on a complete grid each step is one hop), the others all rows forward; i / 2 is the
/// number of the permutation of the axes, in lexicographic order from slowest to fastest. O(n log n).
[[nodiscard]] std::vector<std::uint32_t> line_through(const GridPoints& points, std::size_t i);

/// How many lines there are: two for every permutation, but of at most six permutations.
[[nodiscard]] std::size_t line_count(const GridPoints& points);

}  // namespace topoloom::grid
