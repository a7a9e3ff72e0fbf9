// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/base/budget.hpp"

using namespace topoloom;

TEST_CASE("a work budget ends when it is exhausted") {
    const Budget budget{.work = 10};
    Meter meter(budget);
    CHECK(meter.spend(9));
    CHECK_FALSE(meter.is_exhausted());
    CHECK_FALSE(meter.spend(1));
    CHECK(meter.is_exhausted());
    CHECK(meter.work_done() == 10);
}

TEST_CASE("a budget without limits never ends") {
    const Budget budget;
    Meter meter(budget);
    for (int i = 0; i < 100; ++i) CHECK(meter.spend(1 << 20));
}

TEST_CASE("a search that has no time left ends when it first checks the clock") {
    const Budget budget{.seconds = 0};
    Meter meter(budget);
    CHECK_FALSE(meter.spend(1));
}

TEST_CASE("the caller learns the amount of work done and can end a search") {
    std::uint64_t reported = 0;
    Budget budget;
    budget.keep_going = [&](std::uint64_t done) {
        reported = done;
        return done < 100'000;
    };
    Meter meter(budget);
    std::uint64_t spent = 0;
    while (meter.spend(1000)) spent += 1000;
    CHECK(reported >= 100'000);
    CHECK(spent < 150'000);
}
