// SPDX-License-Identifier: BSD-3-Clause
// Tests balance_with_few_bytes() on tasks of unequal load and size: it respects limits and moves little more
// than the minimum bytes, which exhaustive search finds.
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

struct FewBytesCase {
    std::vector<double> loads;
    std::vector<std::int64_t> bytes;
    std::vector<Rank> owners;
    std::size_t ranks;
    std::int64_t memory = std::numeric_limits<std::int64_t>::max();
    double tolerance = 0.02;

    [[nodiscard]] Tasks tasks() const { return {loads, owners, ranks, bytes, memory, tolerance}; }
};

/// The first ranks have more tasks than the last ones.
FewBytesCase random_case(std::size_t count, std::size_t ranks, Rng& rng) {
    FewBytesCase one{{}, {}, {}, ranks};
    for (std::size_t i = 0; i < count; ++i) {
        one.loads.push_back(1 + rng.below(100) / 10.0);
        one.bytes.push_back(1 + rng.below(1000));
        const auto all = static_cast<std::uint32_t>(ranks);
        one.owners.emplace_back(std::min(rng.below(all), rng.below(all)));
    }
    return one;
}

struct RankTotals {
    double load_max = 0;
    std::int64_t bytes_max = 0, moved = 0;
};

RankTotals sum_rank_totals(const FewBytesCase& one, const std::vector<Rank>& owners) {
    std::vector<double> load(one.ranks, 0);
    std::vector<std::int64_t> bytes(one.ranks, 0);
    RankTotals ends;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        load[owners[i].value] += one.loads[i];
        bytes[owners[i].value] += one.bytes[i];
        ends.moved += owners[i] == one.owners[i] ? 0 : one.bytes[i];
    }
    ends.load_max = *std::ranges::max_element(load);
    ends.bytes_max = *std::ranges::max_element(bytes);
    return ends;
}

/// Fewest bytes moved by any assignment within the limit; -1 if no assignment is within it.
std::int64_t min_moved_bytes(const FewBytesCase& one, double limit) {
    std::int64_t best = -1;
    for_every_assignment(one.loads.size(), one.ranks, [&](const std::vector<Rank>& owners) {
        const RankTotals ends = sum_rank_totals(one, owners);
        if (ends.load_max <= limit && ends.bytes_max <= one.memory && (best < 0 || ends.moved < best))
            best = ends.moved;
    });
    return best;
}

/// Least load of the busiest rank over all assignments that fit in memory; infinite if none does.
double min_max_load(const FewBytesCase& one) {
    double best = std::numeric_limits<double>::infinity();
    for_every_assignment(one.loads.size(), one.ranks, [&](const std::vector<Rank>& owners) {
        const RankTotals ends = sum_rank_totals(one, owners);
        if (ends.bytes_max <= one.memory) best = std::min(best, ends.load_max);
    });
    return best;
}

std::string error_message(const FewBytesCase& one) {
    try {
        static_cast<void>(balance_with_few_bytes(one.tasks()));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("no rank exceeds the mean by more than the tolerance, and moved bytes are near the minimum") {
    Rng rng(1);
    for (int draw = 0; draw < 30; ++draw) {
        const FewBytesCase one = random_case(4000, 40, rng);
        const std::vector<Rank> owners = balance_with_few_bytes(one.tasks());
        const TaskMeasures found = measure_tasks(one.tasks(), owners);
        const RankTotals ends = sum_rank_totals(one, owners);
        CHECK(ends.load_max <= found.load_limit);
        CHECK(found.load_max == doctest::Approx(ends.load_max));
        CHECK(found.moved_bytes == ends.moved);
        CHECK(found.least_bytes <= found.moved_bytes);
        CHECK(static_cast<double>(found.moved_bytes) <= 1.2 * static_cast<double>(found.least_bytes));
    }
}

TEST_CASE("the lower bound on moved bytes holds also if a task exceeds the load limit") {
    Rng rng(3);
    for (int draw = 0; draw < 300; ++draw) {
        const FewBytesCase one = random_case(3 + rng.below(6), 2 + rng.below(3), rng);
        const TaskMeasures found = measure_tasks(one.tasks(), balance_with_few_bytes(one.tasks()));
        CHECK(found.least_bytes <= found.moved_bytes);
    }
}

TEST_CASE("few tasks are balanced optimally: fewest bytes within the limit, or else within the least load") {
    Rng rng(2);
    for (int draw = 0; draw < 200; ++draw) {
        FewBytesCase one = random_case(5 + rng.below(4), 2 + rng.below(2), rng);
        one.tolerance = draw % 3 == 0 ? 0.3 : 0.02;
        one.memory = draw % 2 == 0 ? one.memory : 2500;
        const double load = min_max_load(one);
        std::vector<Rank> owners;
        try {
            owners = balance_with_few_bytes(one.tasks());
        } catch (const Error&) {
            CHECK(load == std::numeric_limits<double>::infinity());
            continue;
        }
        const TaskMeasures found = measure_tasks(one.tasks(), owners);
        const double limit = std::max(load * (1 + 1e-9), found.load_limit);
        CHECK(found.load_max <= limit);
        CHECK(sum_rank_totals(one, owners).bytes_max <= one.memory);
        CHECK(found.moved_bytes == min_moved_bytes(one, limit));
        CHECK(found.least_bytes <= found.moved_bytes);
    }
}

TEST_CASE("few large tasks are packed optimally") {
    const FewBytesCase one{{9, 4, 2, 4, 4, 7, 3},
                           std::vector<std::int64_t>(7, 1),
                           {Rank{0}, Rank{0}, Rank{0}, Rank{0}, Rank{0}, Rank{0}, Rank{1}},
                           3};
    const TaskMeasures found = measure_tasks(one.tasks(), balance_with_few_bytes(one.tasks()));
    CHECK(found.load_max == 11);
}

TEST_CASE("no rank is busier than after greedy balancing or the alias method") {
    Rng rng(5);
    int met = 0;
    double ours = 0, bound = 0;
    for (int draw = 0; draw < 200; ++draw) {
        const std::size_t ranks = 2 + rng.below(30);
        const FewBytesCase one = random_case(ranks * (2 + rng.below(6)), ranks, rng);
        const Tasks tasks = one.tasks();
        const std::vector<Rank> owners = balance_with_few_bytes(tasks);
        const TaskMeasures found = measure_tasks(tasks, owners);
        for (const std::vector<Rank>& other : {balance_greedily(tasks), balance_by_plan(tasks, "alias")})
            CHECK(found.load_max <=
                  std::max(sum_rank_totals(one, other).load_max * (1 + 1e-9), found.load_limit));
        if (found.load_max > found.load_limit) continue;
        ++met;
        ours += static_cast<double>(found.moved_bytes);
        bound += static_cast<double>(found.least_bytes);
    }
    CHECK(met > 100);
    CHECK(ours <= 1.25 * bound);
}

TEST_CASE("no set of tasks with fewer bytes reaches the requested load") {
    Rng rng(4);
    for (int draw = 0; draw < 200; ++draw) {
        const FewBytesCase one = random_case(1 + rng.below(10), 1, rng);
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
    // With many tasks the bound may count fractions of tasks.
    const FewBytesCase many{std::vector<double>(5000, 1), std::vector<std::int64_t>(5000, 2), {}, 1};
    std::vector<std::uint32_t> held;
    for (std::uint32_t i = 0; i < 5000; ++i) held.push_back(i);
    const Cover found = cheapest_cover(many.tasks(), held, 2000.5);
    CHECK(found.tasks.size() == 2001);
    CHECK(found.least_bytes == 4001);
}

TEST_CASE("memory limits are respected, and a balanced start is unchanged") {
    Rng rng(3);
    FewBytesCase one = random_case(2000, 20, rng);
    std::int64_t all = 0;
    for (const std::int64_t bytes : one.bytes) all += bytes;
    one.memory = all / 20 * 105 / 100;
    CHECK(sum_rank_totals(one, balance_with_few_bytes(one.tasks())).bytes_max <= one.memory);
    FewBytesCase level = random_case(400, 4, rng);
    for (std::size_t i = 0; i < 400; ++i) {
        level.owners[i] = Rank{static_cast<std::uint32_t>(i % 4)};
        level.loads[i] = 1;
    }
    CHECK(balance_with_few_bytes(level.tasks()) == level.owners);
}

TEST_CASE("a rank that exceeds its memory sends the task with the fewest bytes") {
    const FewBytesCase one{{1, 1, 1}, {100, 1, 0}, {Rank{0}, Rank{0}, Rank{1}}, 2, 100, 1};
    CHECK(balance_with_few_bytes(one.tasks()) == std::vector<Rank>{Rank{0}, Rank{1}, Rank{1}});
}

TEST_CASE("impossible tasks and limits are refused") {
    const FewBytesCase good{{1, 2, 3}, {10, 20, 30}, {Rank{0}, Rank{0}, Rank{1}}, 2};
    CHECK(error_message(good).empty());
    FewBytesCase one = good;
    one.memory = 25;
    CHECK(error_message(one) == "task 2 has 30 bytes, and a rank has memory for 25");
    one.bytes = {20, 20, 20};
    CHECK(error_message(one) == "tasks have 60 bytes, and the memory of all ranks is 50");
    one = good;
    one.loads[1] = -1;
    CHECK(error_message(one) == "task 1 has a load of -1; loads are finite and at least 0");
    one = good;
    one.owners[2] = Rank{2};
    CHECK(error_message(one) == "task 2 is on rank 2; ranks are 0 to 1");
}
