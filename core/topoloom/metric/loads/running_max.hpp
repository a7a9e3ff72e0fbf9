// SPDX-License-Identifier: BSD-3-Clause
// The maximum of a changing multiset of numbers.
#pragma once

#include <cstdint>

namespace topoloom {

/// Maximum of nonnegative numbers. After the last copy of the maximum is removed, the maximum is unknown
/// until a number at least as large is added.
class RunningMax {
   public:
    void add(double number) {
        if (number > value_ || (number == value_ && count_ == 0)) {
            value_ = number;
            count_ = 1;
        } else if (number == value_) {
            ++count_;
        }
    }
    /// Removes one copy of a number that was added before.
    void remove(double number) {
        if (number == value_ && count_ > 0) --count_;
    }
    [[nodiscard]] bool is_known() const { return count_ > 0; }
    [[nodiscard]] double value() const { return value_; }

   private:
    double value_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace topoloom
