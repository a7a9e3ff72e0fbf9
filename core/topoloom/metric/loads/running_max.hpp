// SPDX-License-Identifier: BSD-3-Clause
// The largest of numbers that come and go.
#pragma once

#include <cstdint>

namespace topoloom {

/// Numbers from 0 up. Once all of the largest are gone it is unknown, until a number comes that is at least as large.
class RunningMax {
   public:
    void put(double number) {
        if (number > value_ || (number == value_ && count_ == 0)) {
            value_ = number;
            count_ = 1;
        } else if (number == value_) {
            ++count_;
        }
    }
    /// One that was put.
    void take(double number) {
        if (number == value_ && count_ > 0) --count_;
    }
    [[nodiscard]] bool is_known() const { return count_ > 0; }
    [[nodiscard]] double value() const { return value_; }

   private:
    double value_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace topoloom
