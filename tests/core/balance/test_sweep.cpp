// SPDX-License-Identifier: BSD-3-Clause
// The sweep keeps the guarantees of the alias method, and ranks that exchange messages compute the same plan.
#include "topoloom/balance/sweep.hpp"

#include <doctest.h>

#include <bit>
#include <string>

#include "balance/random_loads.hpp"
#include "balance/simulated_ranks.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/distributed/decision_times.hpp"
#include "topoloom/balance/target_loads.hpp"
#include "topoloom/base/error.hpp"

using namespace topoloom;

namespace {

void check_sweep(const TaskCounts& loads) {
    const Plan plan = sweep_plan(loads);
    const std::vector<std::int64_t> ends = target_loads(loads);
    CHECK(loads_after(loads, plan) == ends);
    CHECK(plan == make_plan(plan));
    CHECK((plan.empty() || rounds_of(loads, plan) == 1));
    const PlanMeasures measures = measure_plan(plan, loads.size());
    const PlanMeasures least = least_measures(loads, ends);
    CHECK(measures.max_receives == least.max_receives);
    CHECK(measures.max_tasks_received == least.max_tasks_received);
    // Guarantees of the alias method: fewer messages than ranks that are off their target, and at most twice
    // the minimum.
    std::int64_t unequal = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) unequal += loads[i] != ends[i] ? 1 : 0;
    CHECK(measures.messages <= std::max<std::int64_t>(unequal - 1, 0));
    CHECK(measures.messages <= 2 * least.messages);
}

std::uint32_t ceil_log2(std::size_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

void check_simulated_plan(const TaskCounts& loads, Rng rng) {
    const SimulatedPlan simulated = SimulatedRanks(loads, rng).run();
    CHECK(simulated.plan == sweep_plan(loads));
    CHECK(simulated.as_received == simulated.plan);
    CHECK(simulated.max_sent_messages <= 2 * ceil_log2(loads.size()) + further_messages);
    CHECK(simulated.longest_chain <= 7 * ceil_log2(loads.size()) + 3);
}

std::string error_message(const TaskCounts& loads) {
    try {
        SimulatedRanks(loads, Rng(1)).run();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a sweep ends at the floor or ceiling of the mean, with one source per receiver, in one round") {
    Rng rng(1);
    for (int draw = 0; draw < 3000; ++draw)
        check_sweep(random_loads(1 + rng.below(60), 1 + rng.below(40), rng));
    for (std::int64_t n = 3; n < 30; ++n) {
        check_sweep(make_sudheer_example_1(n));
        check_sweep(make_sudheer_example_2(n));
    }
}

TEST_CASE("a rank with all tasks sends to all others, and a rank without tasks has one sender") {
    TaskCounts loads(40, 0);
    loads[17] = 400;
    check_sweep(loads);
    CHECK(sweep_plan(loads).size() == 39);
    loads.assign(40, 11);
    loads[3] = 0;
    check_sweep(loads);
}

TEST_CASE("ranks that exchange messages compute the plan of the sweep, whichever rank is slow") {
    Rng rng(2);
    for (int draw = 0; draw < 600; ++draw) {
        const TaskCounts loads = random_loads(1 + rng.below(70), 1 + rng.below(12), rng);
        check_simulated_plan(loads, rng);
    }
    for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
        TaskCounts loads(ranks, 0);
        check_simulated_plan(loads, rng);
        loads[rng.below(ranks)] = 1000;
        check_simulated_plan(loads, rng);
        check_simulated_plan(random_even_loads(ranks, 9, rng), rng);
    }
    check_simulated_plan(make_sudheer_example_1(20), rng);
    check_simulated_plan(make_sudheer_example_2(50), rng);
}

TEST_CASE("ten thousand ranks that exchange messages compute the plan of the sweep") {
    Rng rng(3);
    check_simulated_plan(random_loads(10'000, 48, rng), rng);
    TaskCounts loads(8192, 0);
    loads[5000] = 1'000'000;
    check_simulated_plan(loads, rng);
}

TEST_CASE("plans of the sweep have at most 5 % more messages and tasks than those of the alias method") {
    Rng rng(4);
    std::int64_t messages = 0, alias_messages = 0, tasks = 0, alias_tasks = 0;
    for (int draw = 0; draw < 50; ++draw) {
        const TaskCounts loads = random_loads(1000, 48, rng);
        const PlanMeasures sweep = measure_plan(sweep_plan(loads), loads.size());
        const PlanMeasures alias = measure_plan(balance({loads}, "alias(remainder=exact)"), loads.size());
        CHECK(sweep.max_receives == alias.max_receives);
        CHECK(sweep.max_tasks_received == alias.max_tasks_received);
        messages += sweep.messages;
        alias_messages += alias.messages;
        tasks += sweep.tasks;
        alias_tasks += alias.tasks;
    }
    CHECK(messages * 100 <= alias_messages * 105);
    CHECK(tasks * 100 <= alias_tasks * 105);
}

TEST_CASE("all ranks throw an error for impossible loads") {
    CHECK(error_message({3, -1, 2}) == "a rank has a negative number of tasks");
    CHECK(error_message({std::int64_t{1} << 61, std::int64_t{1} << 61, 0}) ==
          "the loads of all ranks add up to 2^62 or more");
    CHECK(error_message({std::int64_t{1} << 62}) == "the loads of all ranks add up to 2^62 or more");
}

TEST_CASE(
    "few ranks gather all loads, many ranks exchange messages, and expensive messages raise the limit") {
    const auto gathers = [](std::uint32_t ranks, const DecisionCosts& costs) {
        const DecisionTimes times = decision_times({ranks, ranks, 1}, costs);
        return times.gathered <= times.distributed;
    };
    const auto limit = [&](const DecisionCosts& costs) {
        std::uint32_t ranks = 1;
        while (gathers(2 * ranks, costs)) ranks *= 2;
        return ranks;
    };
    CHECK(gathers(1, {}));
    CHECK(gathers(1024, {}));
    CHECK(!gathers(1'000'000, {}));
    CHECK(limit({.message_s = 1e-5}) > limit({.message_s = 1e-6}));
    CHECK(limit({.rank_s = 1e-9}) > limit({.rank_s = 1e-7}));
}

TEST_CASE(
    "node-shared memory saves messages with many ranks per node, and each rank serves few other nodes") {
    const auto of = [](std::uint32_t nodes, std::uint32_t per_node) {
        return decision_times({nodes * per_node, nodes, per_node}, {});
    };
    for (const std::uint32_t nodes : {2U, 10U, 100U, 1000U}) {
        CHECK(of(nodes, 1).by_node > of(nodes, 1).gathered);
        CHECK(of(nodes, 12).gathered == decision_times({nodes * 12, 1, nodes * 12}, {}).gathered);
    }
    CHECK(of(10, 12).by_node < of(10, 12).gathered / 2);
    CHECK(of(85, 12).by_node < of(85, 12).gathered);
    CHECK(of(1000, 12).by_node > of(1000, 12).gathered);
    CHECK(of(1000, 128).by_node < of(1000, 128).gathered);
    CHECK(!(of(1, 12).by_node <= of(1, 12).gathered));
    // A node with few ranks delays all nodes, because each of its ranks serves more nodes.
    CHECK(decision_times({120, 10, 2}, {}).by_node > of(10, 12).by_node);
}
