// SPDX-License-Identifier: BSD-3-Clause
// Lazy values.
#include "topoloom/base/lazy.hpp"

#include <doctest.h>

#include <atomic>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"

using namespace topoloom;

TEST_CASE("a value is computed once for any number of threads" * doctest::test_suite("threads")) {
    Lazy<int> value;
    std::atomic<int> times = 0;
    std::atomic<int> wrong = 0;
    parallel_for(100, 4, [&](std::size_t, int) {
        const int found = value.get([&] {
            ++times;
            return 7;
        });
        if (found != 7) ++wrong;
    });
    CHECK(times == 1);
    CHECK(wrong == 0);
}

TEST_CASE("an access after a failure computes the value again") {
    Lazy<int> value;
    CHECK_THROWS_AS((void)value.get([]() -> int { fail("not yet"); }), Error);
    CHECK(value.get([] { return 3; }) == 3);
}
