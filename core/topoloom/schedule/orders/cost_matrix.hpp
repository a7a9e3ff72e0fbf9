// SPDX-License-Identifier: BSD-3-Clause
// A matrix of message times between processes.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// Seconds of a message from every process to every other; one row per sender.
class CostMatrix {
   public:
    /// Throws Error for 0 processes, a number of costs other than size * size, and costs below 0 or above 1e9
    /// s.
    CostMatrix(std::size_t size, std::vector<double> seconds);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] double operator()(Rank from, Rank to) const {
        return seconds_[from.value * size_ + to.value];
    }

   private:
    std::size_t size_;
    std::vector<double> seconds_;
};

}  // namespace topoloom
