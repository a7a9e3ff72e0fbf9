// SPDX-License-Identifier: BSD-3-Clause
// Factors a number of ranks into a near-cubic grid.
#pragma once

#include <cstdint>

#include "topoloom/base/extents.hpp"

namespace topoloom {

/// Three factors with the smallest sum, in ascending order: 4x4x4, 3x4x6, 1x1x13.
[[nodiscard]] inline Extents near_cube_factors(std::uint32_t ranks) {
    Extents best{1, 1, ranks};
    for (std::uint32_t x = 1; std::uint64_t{x} * x * x <= ranks; ++x) {
        if (ranks % x != 0) continue;
        const std::uint32_t plane = ranks / x;
        for (std::uint32_t y = x; std::uint64_t{y} * y <= plane; ++y) {
            const std::uint64_t sum = std::uint64_t{x} + y + plane / y;
            if (plane % y == 0 && sum < std::uint64_t{best[0]} + best[1] + best[2]) best = {x, y, plane / y};
        }
    }
    return best;
}

}  // namespace topoloom
