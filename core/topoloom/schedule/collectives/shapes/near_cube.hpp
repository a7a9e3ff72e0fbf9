// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks as a grid without holes.
#pragma once

#include "topoloom/base/extents.hpp"

namespace topoloom {

/// Three axes as near to each other as divisors permit, the shortest first: 4x4x4, 5x5x8, 1x1x13.
[[nodiscard]] inline Extents near_cube(std::uint32_t ranks) {
    std::uint32_t first = 1, second = 1;
    for (std::uint64_t by = 2; by * by * by <= ranks; ++by)
        if (ranks % by == 0) first = static_cast<std::uint32_t>(by);
    const std::uint32_t rest = ranks / first;
    for (std::uint64_t by = first; by * by <= rest; ++by)
        if (rest % by == 0) second = static_cast<std::uint32_t>(by);
    return {first, second, rest / second};
}

}  // namespace topoloom
