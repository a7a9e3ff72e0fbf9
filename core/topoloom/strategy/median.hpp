// SPDX-License-Identifier: BSD-3-Clause
// The middle of times, which one that is far off does not move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace topoloom {

/// Of an even number the larger one of the middle; there must be one at least.
[[nodiscard]] inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace topoloom
