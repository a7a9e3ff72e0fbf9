// SPDX-License-Identifier: BSD-3-Clause
// Digits of numbers in a radix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// The digits of the numbers below a count: ceil(log_radix count) digits, lowest first. count < 2^32, 2 <=
/// radix.
class RadixDigits {
   public:
    RadixDigits(std::size_t count, std::uint32_t radix) : radix_(radix) {
        for (std::size_t weight = 1; weight < count; weight *= radix) weights_[digits_++] = weight;
    }

    [[nodiscard]] std::size_t radix() const { return radix_; }
    [[nodiscard]] std::uint64_t digits() const { return digits_; }
    /// radix^digit.
    [[nodiscard]] std::size_t weight(std::uint64_t digit) const { return weights_[digit]; }
    [[nodiscard]] std::size_t value(std::size_t number, std::uint64_t digit) const {
        return number / weight(digit) % radix_;
    }

    /// Calls visit(number) for each number below the limit whose only nonzero digit is this one.
    template <class Visit>
    void each_multiple(std::uint64_t digit, std::size_t limit, const Visit& visit) const {
        const std::size_t step = weight(digit);
        for (std::size_t number = step; number < limit && number < step * radix_; number += step)
            visit(number);
    }

   private:
    std::size_t radix_;
    std::uint64_t digits_ = 0;
    std::array<std::size_t, 32> weights_{};
};

}  // namespace topoloom
