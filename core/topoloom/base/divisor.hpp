// SPDX-License-Identifier: BSD-3-Clause
// Fast division by a divisor that is known only at run time.
#pragma once

#include <bit>
#include <cstdint>

namespace topoloom {

/// Divides by multiplying with a rounded reciprocal. Exact for every dividend below 2^31 (Granlund and
/// Montgomery 1994).
class Divisor {
   public:
    Divisor() : Divisor(1) {}
    /// Requires value >= 1.
    explicit Divisor(std::uint32_t value)
        : value_(value), shift_(31 + static_cast<std::uint32_t>(std::bit_width(value - 1))) {
        // Rounding the reciprocal up errs by less than value_ <= 2^(shift_ - 31): too little to reach the
        // next quotient.
        reciprocal_ = ((std::uint64_t{1} << shift_) + value - 1) / value;
    }

    [[nodiscard]] std::uint32_t value() const { return value_; }
    [[nodiscard]] std::uint32_t quotient(std::uint32_t dividend) const {
        return static_cast<std::uint32_t>(dividend * reciprocal_ >> shift_);
    }
    [[nodiscard]] std::uint32_t remainder(std::uint32_t dividend) const {
        return dividend - quotient(dividend) * value_;
    }

   private:
    std::uint64_t reciprocal_;
    std::uint32_t value_;
    std::uint32_t shift_;
};

}  // namespace topoloom
