// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <doctest.h>

#include "topoloom/base/rng.hpp"

using namespace topoloom;
using Block = std::array<std::uint32_t, 4>;

TEST_CASE("Philox reproduces the published test vectors of Random123") {
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    constexpr std::uint32_t ones = 0xffffffff;
    CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
          Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream starts with the block of counter zero, and its key is the seed") {
    Rng rng(0);
    CHECK(rng.next() == 0x6627e8d5);
    CHECK(rng.next() == 0xe169c58d);
    CHECK(rng.next() == 0xbc57ac4c);
    CHECK(rng.next() == 0x9b00dbd8);
    CHECK(rng.next() == philox({1, 0, 0, 0}, {0, 0})[0]);
}

TEST_CASE("a copy of a stream repeats its numbers, another stream or seed gives other numbers") {
    Rng rng(7, 3);
    Rng copy = rng;
    Rng other_stream(7, 4);
    Rng other_seed(8, 3);
    std::vector<std::uint32_t> a, b, c, d;
    for (int i = 0; i < 100; ++i) {
        a.push_back(rng.next());
        b.push_back(copy.next());
        c.push_back(other_stream.next());
        d.push_back(other_seed.next());
    }
    CHECK(a == b);
    CHECK(a != c);
    CHECK(a != d);
    CHECK(c != d);
}

TEST_CASE("below() is within its bound and returns every value about equally often") {
    Rng rng(1);
    for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 10U}) {
        std::vector<int> hits(bound, 0);
        const int draws = 20'000;
        for (int i = 0; i < draws; ++i) {
            const std::uint32_t value = rng.below(bound);
            REQUIRE(value < bound);
            ++hits[value];
        }
        const double expected = static_cast<double>(draws) / bound;
        // Six standard deviations; the seed is fixed, so this never fails by chance.
        for (const int count : hits) CHECK(std::abs(count - expected) <= 6 * std::sqrt(expected));
    }
}

TEST_CASE("below() with a bound of more than 2^31 has no bias towards small values") {
    Rng rng(2);
    const std::uint32_t bound = 3U << 30;
    int low = 0;
    for (int i = 0; i < 30'000; ++i) low += rng.below(bound) < (1U << 30) ? 1 : 0;
    // With a mere remainder, half of the values would be low instead of a third.
    CHECK(std::abs(low - 10'000) < 500);
}

TEST_CASE("uniform numbers lie in [0, 1) with mean 1/2 and variance 1/12") {
    Rng rng(3);
    const int draws = 100'000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < draws; ++i) {
        const double x = rng.uniform();
        REQUIRE(x >= 0);
        REQUIRE(x < 1);
        sum += x;
        squares += x * x;
    }
    CHECK(sum / draws == doctest::Approx(0.5).epsilon(0.01));
    CHECK(squares / draws == doctest::Approx(1.0 / 3).epsilon(0.01));
}

TEST_CASE("a shuffle is a permutation, and all orders of three items occur") {
    Rng rng(4);
    std::vector<int> items(1000);
    std::iota(items.begin(), items.end(), 0);
    const std::vector<int> sorted = items;
    rng.shuffle(std::span(items));
    CHECK(items != sorted);
    std::sort(items.begin(), items.end());
    CHECK(items == sorted);

    std::array<int, 6> seen{};
    for (int i = 0; i < 6000; ++i) {
        std::array<int, 3> three{0, 1, 2};
        rng.shuffle(std::span<int>(three));
        ++seen[static_cast<std::size_t>(2 * three[0] + (three[1] > three[2] ? 1 : 0))];
    }
    for (const int count : seen) CHECK(std::abs(count - 1000) < 200);
}
