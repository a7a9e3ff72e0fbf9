// SPDX-License-Identifier: BSD-3-Clause
// A strategy that ran out of memory answers the next query correctly, so that all ranks choose the same
// schedule. Learning from the ranks' times allocates no memory.
#include <doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "../base/sanitized.hpp"
#include "topoloom/strategy/learner.hpp"
#include "topoloom/strategy/strategy.hpp"

namespace {

/// The number of further allocations that succeed; if negative, all do.
long left = -1;

void* allocate(std::size_t size) {
    if (left == 0) throw std::bad_alloc();
    if (left > 0) --left;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace topoloom;

namespace {

constexpr auto costed_operations = {Operation::gather, Operation::allgather, Operation::allreduce,
                                    Operation::alltoall};

Setting lines_of_torus() {
    Setting setting;
    setting.ranks = 24;
    setting.machine = "machine torus:4x3x2,bandwidth=10GB/s\nmessage - 1e-6 1e-10\n";
    setting.concurrent_calls = 2;
    for (int rank = 0; rank < 24; ++rank) setting.locations.push_back(rank);
    return setting;
}

/// All answers of a strategy for an operation, as text.
std::string describe_answers(Strategy& strategy, Operation operation) {
    const Bytes bytes{1024};
    std::string all = strategy.choose(operation, bytes, true) +
                      (strategy.saves_time(operation, bytes, false, 0) ? " +" : " -");
    for (const TimedSchedule& one : strategy.timed_schedules(operation, bytes, false)) all += " " + *one.text;
    return all;
}

/// The same answers, after attempts that fail at an allocation: at the first one, then each time `step`
/// allocations later.
std::string answers_after_failures(Strategy& strategy, Operation operation, long step, int& failures) {
    for (long count = 0;; count += step) {
        left = count;
        try {
            std::string all = describe_answers(strategy, operation);
            left = -1;
            return all;
        } catch (const std::bad_alloc&) {
            left = -1;
            ++failures;
        }
    }
}

}  // namespace

TEST_CASE("failed allocations do not change later answers") {
    for (const Operation operation : costed_operations) {
        Strategy fresh(lines_of_torus());
        const std::string expected = describe_answers(fresh, operation);
        for (const long step : {1, 7, 100}) {
            if (is_sanitized && step == 1) continue;
            Strategy strategy(lines_of_torus());
            int failures = 0;
            CHECK(answers_after_failures(strategy, operation, step, failures) == expected);
            CHECK(failures > 0);
        }
    }
}

TEST_CASE("a rank that is out of memory learns the decision of the others") {
    const auto strategy = std::make_shared<Strategy>(lines_of_torus());
    Learner rich(strategy), poor(strategy);
    for (int call = 0; call < 400; ++call) {
        const Operation operation = call % 3 == 0 ? Operation::allreduce : Operation::alltoall;
        const Bytes bytes{100 << call % 5};
        REQUIRE(rich.choose_trial(operation, bytes, false) == poor.choose_trial(operation, bytes, false));
        std::array<std::int64_t, Learner::max_observations> sums{}, seen{};
        left = 0;
        poor.record_time(1e-6 * (1 + call % 7));
        const std::size_t count = poor.write_observations(seen);
        left = -1;
        rich.record_time(1e-6 * (1 + call % 5));
        if (!rich.is_due()) continue;
        rich.write_observations(sums);
        for (std::size_t i = 0; i < count; ++i) sums[i] += seen[i];
        rich.learn({sums.data(), count});
        left = 0;
        poor.learn({sums.data(), count});
        left = -1;
    }
}
