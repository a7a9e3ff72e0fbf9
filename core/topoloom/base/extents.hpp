// SPDX-License-Identifier: BSD-3-Clause
// Extents of grids. Cells are numbered row-major: the last axis varies fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace topoloom {

/// Number of cells along each axis of a grid.
using Extents = std::vector<std::uint32_t>;

/// Formats extents as 8x8x16.
[[nodiscard]] std::string format_extents(const Extents& extents);

/// Number of cells of the grid, saturated at 2^64 - 1.
[[nodiscard]] inline std::uint64_t cell_count(std::span<const std::uint32_t> extents) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t cells = 1;
    for (const std::uint32_t extent : extents) {
        if (extent == 0) return 0;
        cells = cells > most / extent ? most : cells * extent;
    }
    return cells;
}

/// Distance in cell numbers between neighbors along each axis.
[[nodiscard]] inline Extents row_major_strides(std::span<const std::uint32_t> extents) {
    Extents strides(extents.size(), 1);
    for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
    return strides;
}

/// Calls visit(coordinates) for every cell in row-major order.
template <class Visit>
void for_each_cell(std::span<const std::uint32_t> extents, const Visit& visit) {
    Extents at(extents.size(), 0);
    for (std::uint64_t left = cell_count(extents); left > 0; --left) {
        visit(at);
        for (std::size_t i = at.size(); i-- > 0;) {
            if (++at[i] < extents[i]) break;
            at[i] = 0;
        }
    }
}

}  // namespace topoloom
