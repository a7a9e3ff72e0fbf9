// SPDX-License-Identifier: BSD-3-Clause
// Guarantees of the alias method on random loads and on its worst cases.
#include "topoloom/balance/alias.hpp"

#include <doctest.h>

#include <functional>
#include <limits>
#include <map>

#include "balance/random_loads.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/target_loads.hpp"
#include "topoloom/base/error.hpp"

using namespace topoloom;

namespace {

using Amounts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

Amounts sum_tasks_by_pair(const Plan& plan) {
    Amounts amounts;
    for (const auto& [from, to, tasks] : plan) amounts[{from.value, to.value}] = tasks;
    return amounts;
}

/// Algorithm 1 of Sudheer 2012, ch. 5, as printed; the lowest ranks get the phantom tasks that make the sum
/// divisible. `bins` lists ranks with a deficit first. `source` and `tasks` are S and W in the paper.
Amounts run_printed_alias(TaskCounts loads) {
    const EvenLoad even = compute_even_load(loads);
    const std::int64_t k = even.ceiling;
    const std::size_t phantoms = even.ranks_at_ceiling == 0 ? 0 : loads.size() - even.ranks_at_ceiling;
    for (std::size_t i = 0; i < phantoms; ++i) ++loads[i];
    std::vector<std::uint32_t> bins;
    for (std::uint32_t i = 0; i < loads.size(); ++i) {
        if (loads[i] < k) bins.push_back(i);
    }
    std::size_t l = bins.size();
    for (std::uint32_t i = 0; i < loads.size(); ++i) {
        if (loads[i] > k) bins.push_back(i);
    }
    std::vector<std::size_t> source(bins.size());
    std::vector<std::int64_t> tasks(bins.size(), 0);
    for (std::size_t s = 0; l > s; ++s) {
        source[s] = l;
        tasks[s] = k - loads[bins[s]];
        loads[bins[l]] -= tasks[s];
        if (loads[bins[l]] < k) ++l;
    }
    std::vector<char> has_sent(loads.size(), 0);
    Amounts amounts;
    for (std::size_t s = 0; s < bins.size(); ++s) {
        if (tasks[s] == 0) continue;
        const std::uint32_t sender = bins[source[s]];
        if (sender < phantoms && !has_sent[sender]) --tasks[s];
        has_sent[sender] = 1;
        if (tasks[s] > 0) amounts[{sender, bins[s]}] = tasks[s];
    }
    return amounts;
}

void check_guarantees(const TaskCounts& loads, const Plan& plan, std::int64_t least) {
    const EvenLoad even = compute_even_load(loads);
    for (const std::int64_t load : loads_after(loads, plan)) {
        CHECK(load >= least);
        CHECK(load <= even.ceiling);
    }
    const PlanMeasures measures = measure_plan(plan, loads.size());
    CHECK(measures.max_receives <= 1);
    CHECK(measures.messages <= static_cast<std::int64_t>(loads.size()) - 1);
    CHECK((plan.empty() || rounds_of(loads, plan) == 1));
    CHECK(sum_tasks_by_pair(plan).size() == plan.size());
    CHECK(plan == make_plan(plan));
}

}  // namespace

TEST_CASE("all loads end equal if the number of ranks divides their sum") {
    Rng rng(1);
    for (int draw = 0; draw < 2000; ++draw) {
        const TaskCounts loads = random_even_loads(1 + rng.below(40), 1 + rng.below(30), rng);
        const Plan plan = balance({loads}, "alias");
        check_guarantees(loads, plan, compute_even_load(loads).floor);
        const Plan exact = balance({loads}, "alias(remainder=exact)");
        check_guarantees(loads, exact, compute_even_load(loads).floor);
        CHECK(exact.size() <= plan.size());
        const TaskCounts ends = loads_after(loads, plan);
        const PlanMeasures least = least_measures(loads, ends);
        const PlanMeasures measures = measure_plan(plan, loads.size());
        CHECK(measures.max_tasks_received == least.max_tasks_received);
        CHECK(measures.max_receives == least.max_receives);
        CHECK(measures.messages <= 2 * least.messages);
    }
}

TEST_CASE("loads end at most 2 below the ceiling of the mean, or at most 1 below it without phantom tasks") {
    Rng rng(2);
    bool two_below = false;
    for (int draw = 0; draw < 4000; ++draw) {
        const TaskCounts loads = random_loads(1 + rng.below(40), 1 + rng.below(30), rng);
        const EvenLoad even = compute_even_load(loads);
        const Plan plan = balance({loads}, "alias");
        check_guarantees(loads, plan, even.ceiling - 2);
        two_below = two_below || std::ranges::min(loads_after(loads, plan)) == even.ceiling - 2;
        check_guarantees(loads, balance({loads}, "alias(remainder=exact)"), even.floor);
    }
    CHECK(two_below);
}

TEST_CASE("the plan equals the plan of the published algorithm") {
    Rng rng(3);
    for (int draw = 0; draw < 2000; ++draw) {
        const TaskCounts loads = random_loads(1 + rng.below(30), 1 + rng.below(20), rng);
        CHECK(sum_tasks_by_pair(balance({loads}, "alias")) == run_printed_alias(loads));
    }
}

TEST_CASE("example 1 takes one message fewer than twice the minimum") {
    for (std::int64_t n = 4; n < 60; ++n) {
        const TaskCounts loads = make_sudheer_example_1(n);
        const PlanMeasures found = measure_plan(balance({loads}, "alias"), loads.size());
        CHECK(found.messages == 2 * n - 1);
        CHECK(found.tasks == 3 * n - 5 + (n - 3) * (n - 2) / 2);
        CHECK(found.max_sends == n - 1);
        const PlanMeasures least = least_measures(loads, TaskCounts(loads.size(), n));
        CHECK(least.messages == n);
        CHECK(least.tasks == 2 * n - 3);
    }
}

TEST_CASE("in example 2 every rank refills the previous one") {
    for (std::int64_t ranks = 2; ranks < 60; ++ranks) {
        const TaskCounts loads = make_sudheer_example_2(ranks);
        const PlanMeasures found = measure_plan(balance({loads}, "alias"), loads.size());
        CHECK(found.max_tasks_sent == ranks - 1);
        CHECK(found.tasks == ranks * (ranks - 1) / 2);
        CHECK(least_measures(loads, TaskCounts(loads.size(), ranks)).max_tasks_sent == 1);
    }
}

TEST_CASE("the plan is empty for one rank, for no tasks and for equal loads") {
    for (const TaskCounts& loads : {TaskCounts{7}, TaskCounts{0}, TaskCounts(5, 0), TaskCounts(5, 3)}) {
        for (const Balancer& one : balancers()) {
            if (!one.needs_machine) CHECK(balance({loads}, one.name).empty());
        }
    }
}

TEST_CASE("invalid loads are refused with a one-line error") {
    const std::int64_t half = std::int64_t{1} << 61;
    CHECK_THROWS_WITH_AS(static_cast<void>(compute_even_load({})),
                         "there are no loads; give one for each rank", Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(compute_even_load(TaskCounts{1, -2})),
                         "rank 1 has a load of -2; loads are at least 0", Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(compute_even_load(TaskCounts{half, half})),
                         "the loads of ranks 0 to 1 add up to 2^62 or more", Error);
    CHECK(compute_even_load(TaskCounts{half, half - 1}).ceiling == half);
    CHECK_THROWS_WITH_AS(static_cast<void>(balance({TaskCounts{1}}, "alais")),
                         doctest::Contains("no balancer 'alais' (did you mean 'alias'?)"), Error);
    CHECK_THROWS_AS(static_cast<void>(balance({TaskCounts{1}}, "alias(remainder=none)")), Error);
}

TEST_CASE("a plan that is computed for one rank has all moves of that rank") {
    Rng rng(11);
    for (int draw = 0; draw < 40; ++draw) {
        const TaskCounts loads = random_loads(2 + rng.below(30), 9, rng);
        for (const char* method : {"alias", "alias(remainder=exact)", "sweep", "qwalk"}) {
            const Plan all = balance({loads}, method);
            for (const Rank rank : ids<Rank>(loads.size())) {
                const auto is_own = [&](const TaskMove& move) {
                    return move.from == rank || move.to == rank;
                };
                BalanceProblem problem{loads};
                problem.only = rank;
                Plan own = all, got = balance(problem, method);
                std::erase_if(own, std::not_fn(is_own));
                std::erase_if(got, std::not_fn(is_own));
                CHECK(got == own);
            }
        }
    }
}

TEST_CASE("balancers that never forward tasks need one round") {
    CHECK(!forwards_tasks("alias(remainder=exact)"));
    CHECK(!forwards_tasks("auto"));
    CHECK(forwards_tasks("diffusion"));
    const TaskCounts loads{64, 0, 0, 0};
    for (const Balancer& one : balancers()) {
        if (one.needs_machine) continue;
        CHECK((forwards_tasks(one.name) || rounds_of(loads, balance({loads}, one.name)) == 1));
    }
}
