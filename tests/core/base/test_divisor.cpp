// SPDX-License-Identifier: BSD-3-Clause
// Divisor gives the same quotients as hardware division.
#include <doctest.h>

#include <cstdint>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/rng.hpp"

using namespace topoloom;

namespace {

constexpr std::uint32_t greatest = (1U << 31) - 1;

void check_quotient(std::uint32_t dividend, const Divisor& divisor) {
    if (divisor.quotient(dividend) != dividend / divisor.value() ||
        divisor.remainder(dividend) != dividend % divisor.value()) {
        FAIL_CHECK(dividend, " by ", divisor.value());
    }
}

/// Quotients are most likely wrong near multiples of the divisor.
void check_around_multiples(const Divisor& divisor) {
    const std::uint32_t last = greatest / divisor.value();
    for (const std::uint32_t times : {0U, 1U, 2U, 3U, last / 2, last - (last > 0), last}) {
        const std::uint64_t multiple = std::uint64_t{times} * divisor.value();
        for (const std::uint64_t dividend : {multiple, multiple + 1, multiple + divisor.value() - 1}) {
            if (dividend <= greatest) check_quotient(static_cast<std::uint32_t>(dividend), divisor);
        }
    }
    check_quotient(greatest, divisor);
}

}  // namespace

TEST_CASE("quotients and remainders are exact around the multiples of small and of large divisors") {
    for (std::uint32_t value = 1; value <= 5000; ++value) check_around_multiples(Divisor(value));
    for (std::uint32_t bit = 1; bit < 32; ++bit) {
        const std::uint32_t power = 1U << bit;
        for (const std::uint32_t value : {power - 1, power, power + 1})
            check_around_multiples(Divisor(value));
    }
    check_around_multiples(Divisor(~0U));
}

TEST_CASE("quotients and remainders are exact for random numbers of all sizes") {
    Rng rng(1);
    for (int round = 0; round < 100000; ++round) {
        const Divisor divisor(1 + rng.below(1U << rng.below(32)));
        check_quotient(rng.below(1U << 31) >> rng.below(31), divisor);
        check_around_multiples(divisor);
    }
}
