// SPDX-License-Identifier: BSD-3-Clause
// Keys by which a set of points is bisected.
#pragma once

#include <compare>
#include <cstdint>

namespace topoloom {

/// Points that are close have close keys. The best cut is near the middle, between two points of different `major`: between
/// two planes of a torus, or two groups of a tree.
struct SplitKey {
    std::uint32_t major = 0;
    std::uint64_t minor = 0;
    friend auto operator<=>(const SplitKey&, const SplitKey&) = default;
};

}  // namespace topoloom
