// SPDX-License-Identifier: BSD-3-Clause
// A window of recent times and its median.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace topoloom {

/// The last `most` times. Never allocates memory, so that a rank that is out of memory still learns like the
/// others.
template <std::size_t most>
class RecentTimes {
   public:
    void add(double seconds) noexcept {
        if (count_ == most) {
            std::shift_left(times_.begin(), times_.end(), 1);
            --count_;
        }
        times_[count_++] = seconds;
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] const double* begin() const noexcept { return times_.data(); }
    [[nodiscard]] const double* end() const noexcept { return times_.data() + count_; }
    /// The median; for an even number of times, the larger of the middle two. Requires at least one time.
    [[nodiscard]] double median() const noexcept {
        std::array<double, most> sorted = times_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
        std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count_));
        return *middle;
    }

   private:
    std::array<double, most> times_{};
    std::size_t count_ = 0;
};

}  // namespace topoloom
