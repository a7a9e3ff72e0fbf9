// SPDX-License-Identifier: BSD-3-Clause
// Tasks of unequal load and size: no rank has too much to do or to hold, and few bytes move, beside exact search.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "every_assignment.hpp"
#include "topoloom/balance/tasks/cover.hpp"
#include "topoloom/balance/tasks/measures.hpp"
#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"

using namespace topoloom;

namespace {

struct Case {
    std::vector<double> loads;
    std::vector<std::int64_t> bytes;
    std::vector<Rank> owners;
    std::size_t ranks;
    std::int64_t memory = std::numeric_limits<std::int64_t>::max();
    double tolerance = 0.02;

    [[nodiscard]] Tasks tasks() const { return {loads, owners, ranks, bytes, memory, tolerance}; }
};

/// Ranks differ: the first ones have more tasks than the last.
Case drawn(std::size_t count, std::size_t ranks, Rng& rng) {
    Case one{{}, {}, {}, ranks};
    for (std::size_t i = 0; i < count; ++i) {
        one.loads.push_back(1 + rng.below(100) / 10.0);
        one.bytes.push_back(1 + rng.below(1000));
        const auto all = static_cast<std::uint32_t>(ranks);
        one.owners.emplace_back(std::min(rng.below(all), rng.below(all)));
    }
    return one;
}

struct Ends {
    double load_max = 0;
    std::int64_t bytes_max = 0, moved = 0;
};

Ends ends_of(const Case& one, const std::vector<Rank>& owners) {
    std::vector<double> load(one.ranks, 0);
    std::vector<std::int64_t> bytes(one.ranks, 0);
    Ends ends;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        load[owners[i].value] += one.loads[i];
        bytes[owners[i].value] += one.bytes[i];
        ends.moved += owners[i] == one.owners[i] ? 0 : one.bytes[i];
    }
    ends.load_max = *std::ranges::max_element(load);
    ends.bytes_max = *std::ranges::max_element(bytes);
    return ends;
}

/// The fewest bytes in all assignments within the limit; -1: there is none.
std::int64_t fewest(const Case& one, double limit) {
    std::int64_t best = -1;
    for_every_assignment(one.loads.size(), one.ranks, [&](const std::vector<Rank>& owners) {
        const Ends ends = ends_of(one, owners);
        if (ends.load_max <= limit && ends.bytes_max <= one.memory && (best < 0 || ends.moved < best))
            best = ends.moved;
    });
    return best;
}

std::string refusal(const Case& one) {
    try {
        static_cast<void>(balance_with_few_bytes(one.tasks()));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("no rank exceeds the mean by more than the tolerance, and few bytes move") {
    Rng rng(1);
    for (int draw = 0; draw < 30; ++draw) {
        const Case one = drawn(4000, 40, rng);
        const std::vector<Rank> owners = balance_with_few_bytes(one.tasks());
        const TaskMeasures found = measure_tasks(one.tasks(), owners);
        const Ends ends = ends_of(one, owners);
        CHECK(ends.load_max <= found.load_limit);
        CHECK(found.load_max == doctest::Approx(ends.load_max));
        CHECK(found.moved_bytes == ends.moved);
        CHECK(found.least_bytes <= found.moved_bytes);
        CHECK(static_cast<double>(found.moved_bytes) <= 1.2 * static_cast<double>(found.least_bytes));
    }
}

TEST_CASE(
    "no more must move than what leads to the loads that were reached, also of tasks that are too large") {
    Rng rng(3);
    for (int draw = 0; draw < 300; ++draw) {
        const Case one = drawn(3 + rng.below(6), 2 + rng.below(3), rng);
        const TaskMeasures found = measure_tasks(one.tasks(), balance_with_few_bytes(one.tasks()));
        CHECK(found.least_bytes <= found.moved_bytes);
    }
}

TEST_CASE("the bound is below what exact search finds, and that is not above ours") {
    Rng rng(2);
    for (int draw = 0; draw < 200; ++draw) {
        Case one = drawn(8, 2 + rng.below(2), rng);
        one.tolerance = 0.3;
        one.memory = draw % 2 == 0 ? one.memory : 3500;
        const std::vector<Rank> owners = balance_with_few_bytes(one.tasks());
        const TaskMeasures found = measure_tasks(one.tasks(), owners);
        const Ends ends = ends_of(one, owners);
        CHECK(ends.bytes_max <= one.memory);
        const std::int64_t best = fewest(one, found.load_limit);
        if (best < 0 || ends.load_max > found.load_limit) continue;
        CHECK(found.least_bytes <= best);
        CHECK(best <= found.moved_bytes);
    }
}

TEST_CASE("no tasks with fewer bytes make up a load") {
    Rng rng(4);
    for (int draw = 0; draw < 200; ++draw) {
        const Case one = drawn(1 + rng.below(10), 1, rng);
        const std::size_t count = one.loads.size();
        std::vector<std::uint32_t> held;
        double all = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            held.push_back(i);
            all += one.loads[i];
        }
        const double load = all * rng.uniform();
        double best = std::numeric_limits<double>::infinity();
        for (std::uint32_t chosen = 0; chosen < 1U << count; ++chosen) {
            double has = 0, bytes = 0;
            for (std::uint32_t i = 0; i < count; ++i) {
                if ((chosen >> i & 1) == 0) continue;
                has += one.loads[i];
                bytes += static_cast<double>(one.bytes[i]);
            }
            if (has >= load) best = std::min(best, bytes);
        }
        const Cover found = cheapest_cover(one.tasks(), held, load);
        double bytes = 0;
        for (const std::uint32_t task : found.tasks) bytes += static_cast<double>(one.bytes[task]);
        CHECK(bytes == best);
        CHECK(found.least_bytes == best);
    }
    // Of very many tasks parts are taken for the bound.
    const Case many{std::vector<double>(5000, 1), std::vector<std::int64_t>(5000, 2), {}, 1};
    std::vector<std::uint32_t> held;
    for (std::uint32_t i = 0; i < 5000; ++i) held.push_back(i);
    const Cover found = cheapest_cover(many.tasks(), held, 2000.5);
    CHECK(found.tasks.size() == 2001);
    CHECK(found.least_bytes == 4001);
}

TEST_CASE("memory is respected where it is scarce, and nothing moves where all is well") {
    Rng rng(3);
    Case one = drawn(2000, 20, rng);
    std::int64_t all = 0;
    for (const std::int64_t bytes : one.bytes) all += bytes;
    one.memory = all / 20 * 105 / 100;
    CHECK(ends_of(one, balance_with_few_bytes(one.tasks())).bytes_max <= one.memory);
    Case level = drawn(400, 4, rng);
    for (std::size_t i = 0; i < 400; ++i) {
        level.owners[i] = Rank{static_cast<std::uint32_t>(i % 4)};
        level.loads[i] = 1;
    }
    CHECK(balance_with_few_bytes(level.tasks()) == level.owners);
}

TEST_CASE("what cannot be is refused") {
    const Case good{{1, 2, 3}, {10, 20, 30}, {Rank{0}, Rank{0}, Rank{1}}, 2};
    CHECK(refusal(good).empty());
    Case one = good;
    one.memory = 25;
    CHECK(refusal(one) == "task 2 has 30 bytes, and a rank has memory for 25");
    one.bytes = {20, 20, 20};
    CHECK(refusal(one) == "tasks have 60 bytes, and 2 ranks have memory for 25 each");
    one = good;
    one.loads[1] = -1;
    CHECK(refusal(one) == "task 1 has a load of -1; loads are finite and at least 0");
    one = good;
    one.owners[2] = Rank{2};
    CHECK(refusal(one) == "task 2 is on rank 2, which is none of the ranks 0 to 1");
}
