// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <doctest.h>

#include "topoloom/base/big_vector.hpp"

using namespace topoloom;

TEST_CASE("a big vector grows, copies and moves like std::vector, below and above the size of huge pages") {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{3}, std::size_t{1} << 18, std::size_t{3'000'000}}) {
        BigVector<std::uint32_t> numbers;
        for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::uint32_t>(i));
        const BigVector<std::uint32_t> copy = numbers;
        const BigVector<std::uint32_t> moved = std::move(numbers);
        CHECK(copy == moved);
        CHECK(copy.size() == count);
        if (count > 0) CHECK(copy.back() == count - 1);
    }
}

TEST_CASE("big vectors are zero-initialized even in reused pages") {
    for (int i = 0; i < 3; ++i) {
        BigVector<std::uint8_t> bytes(std::size_t{9} << 20);
        bool zero = true;
        for (std::uint8_t& byte : bytes) {
            zero = zero && byte == 0;
            byte = 1;
        }
        CHECK(zero);
    }
}
