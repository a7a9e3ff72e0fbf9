// SPDX-License-Identifier: BSD-3-Clause
// Searches that run in parallel all end when the budget does.
#include <doctest.h>

#include <atomic>
#include <thread>

#include "topoloom/place/parallel_search.hpp"

using namespace topoloom;

TEST_CASE("parallel searches all end at once if their budget is already spent") {
    Budget budget;
    budget.work = 1;
    Meter meter(budget);
    meter.spend(1);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> ended_elsewhere = 0;
    std::atomic<int> going_on = 0;
    search_in_parallel(2, 2, meter, [&](std::size_t, Meter& own) {
        // The calling thread checks the budget last, so that the other thread cannot depend on its check.
        if (std::this_thread::get_id() == caller)
            while (ended_elsewhere == 0) std::this_thread::yield();
        if (own.poll()) ++going_on;
        if (std::this_thread::get_id() != caller) ++ended_elsewhere;
    });
    CHECK(going_on == 0);
}
