// SPDX-License-Identifier: BSD-3-Clause
// Lines through all points of a grid, which may have gaps: row by row or back and forth, with any order of
// the axes.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom::grid {

/// Points on a grid.
struct GridPoints {
    Extents extent;
    std::vector<std::uint32_t> at;  // coordinates, point by point

    [[nodiscard]] std::size_t axes() const { return extent.size(); }
    [[nodiscard]] std::size_t size() const { return at.size() / extent.size(); }
};

/// The i-th line through the points, as a list of point indices. Odd lines run every other row backwards (a
/// reflected mixed-radix Gray code: on a complete grid each step is one hop); even lines run all rows
/// forward. i / 2 numbers the permutation of the axes from slowest to fastest, in lexicographic order. O(n
/// log n).
[[nodiscard]] std::vector<std::uint32_t> list_line(const GridPoints& points, std::size_t i);

/// Number of lines: two per permutation of the axes, for at most six permutations.
[[nodiscard]] std::size_t count_lines(const GridPoints& points);

}  // namespace topoloom::grid
