// SPDX-License-Identifier: BSD-3-Clause
// Where a set of points falls apart most naturally.
#pragma once

#include <compare>
#include <cstdint>

namespace topoloom {

/// Sorted by their keys, points that are close stay close. The best cut is near the middle between two points of
/// different `major`: between two planes of a torus, two groups of a tree.
struct SplitKey {
    std::uint32_t major = 0;
    std::uint64_t minor = 0;
    friend auto operator<=>(const SplitKey&, const SplitKey&) = default;
};

}  // namespace topoloom
