// SPDX-License-Identifier: BSD-3-Clause
// The maximum of many values with updates of single values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace topoloom {

/// Maximum of nonnegative values, initially 0. O(log count) per update, O(1) for the maximum.
class MaxTree {
   public:
    explicit MaxTree(std::size_t count) : leaves_(std::bit_ceil(std::max<std::size_t>(count, 1))) {
        most_.resize(2 * leaves_);
    }
    [[nodiscard]] double operator[](std::size_t i) const { return most_[leaves_ + i]; }
    [[nodiscard]] double max() const { return most_[1]; }
    void set(std::size_t i, double value) {
        std::size_t at = leaves_ + i;
        most_[at] = value;
        while (at > 1) {
            at /= 2;
            const double most = std::max(most_[2 * at], most_[2 * at + 1]);
            if (most == most_[at]) return;
            most_[at] = most;
        }
    }

   private:
    std::size_t leaves_;
    std::vector<double> most_;  // maximum of each subtree; leaves last
};

}  // namespace topoloom
