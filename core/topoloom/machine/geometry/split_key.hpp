// SPDX-License-Identifier: BSD-3-Clause
// Sort keys for the bisection of a set of points.
#pragma once

#include <compare>
#include <cstdint>

namespace topoloom {

/// Close points have close keys. Cut the sorted points near the middle, preferably where `major` changes:
/// between two planes of a torus, or between two groups of a tree.
struct SplitKey {
    std::uint32_t major = 0;
    std::uint64_t minor = 0;
    friend auto operator<=>(const SplitKey&, const SplitKey&) = default;
};

}  // namespace topoloom
