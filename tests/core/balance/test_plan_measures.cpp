// SPDX-License-Identifier: BSD-3-Clause
// Measures and rounds of plans, balancers that move the fewest tasks, and balancers that move tasks only
// between neighbors.
#include <doctest.h>

#include <cmath>

#include "balance/random_loads.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/diffusion.hpp"
#include "topoloom/balance/target_loads.hpp"
#include "topoloom/balance/two_pointer_plan.hpp"
#include "topoloom/base/error.hpp"

using namespace topoloom;

namespace {

Plan make_plan_of(std::initializer_list<std::array<std::int64_t, 3>> moves) {
    Plan plan;
    for (const auto& [from, to, tasks] : moves)
        plan.push_back({Rank{static_cast<std::uint32_t>(from)}, Rank{static_cast<std::uint32_t>(to)}, tasks});
    return make_plan(std::move(plan));
}

bool is_neighbor_pair(const RankNetwork& network, const TaskMove& move) {
    const auto [low, high] = std::minmax(move.from.value, move.to.value);
    return std::ranges::any_of(network.pairs,
                               [&](const RankPair& pair) { return pair.low == low && pair.high == high; });
}

double sum_of_squares(const Plan& plan) {
    double sum = 0;
    for (const TaskMove& move : plan) sum += std::pow(static_cast<double>(move.tasks), 2);
    return sum;
}

}  // namespace

TEST_CASE("a plan is sorted and lists each pair of ranks once, and its measures match its moves") {
    const Plan plan = make_plan_of({{2, 1, 3}, {0, 1, 2}, {2, 0, 0}, {2, 1, 1}, {2, 3, 5}});
    CHECK(plan == make_plan_of({{0, 1, 2}, {2, 1, 4}, {2, 3, 5}}));
    CHECK(measure_plan(plan, 4) == PlanMeasures{3, 11, 2, 6, 2, 9});
    CHECK(loads_after(TaskCounts{4, 0, 9, 0}, plan) == TaskCounts{2, 6, 0, 5});
}

TEST_CASE("ranks that forward received tasks take more rounds") {
    CHECK(rounds_of(TaskCounts{3, 0}, {}) == 0);
    CHECK(rounds_of(TaskCounts{3, 0, 0}, make_plan_of({{0, 1, 2}, {0, 2, 1}})) == 1);
    CHECK(rounds_of(TaskCounts{3, 0, 0}, make_plan_of({{0, 1, 2}, {1, 2, 1}})) == 2);
    CHECK_THROWS_AS(static_cast<void>(rounds_of(TaskCounts{1, 0, 0}, make_plan_of({{1, 2, 1}}))), Error);
}

TEST_CASE("the ceiling of the mean goes to the ranks where it saves most moves, or to the busiest ranks") {
    CHECK(target_loads(TaskCounts{5, 3, 0, 2, 1}) == TaskCounts{2, 3, 2, 2, 2});
    CHECK(target_loads(TaskCounts{5, 0, 3, 2, 2}) == TaskCounts{3, 2, 3, 2, 2});
    CHECK(targets_by_load(TaskCounts{5, 3, 0, 2, 1}) == TaskCounts{3, 2, 2, 2, 2});
    CHECK(targets_by_load(TaskCounts{4, 4, 0, 1, 2}) == TaskCounts{3, 2, 2, 2, 2});
}

TEST_CASE("two-pointer balancing moves the fewest tasks, in total and to and from any rank") {
    Rng rng(4);
    for (int draw = 0; draw < 2000; ++draw) {
        const TaskCounts loads = random_loads(1 + rng.below(40), 1 + rng.below(30), rng);
        const Plan plan = two_pointer_plan(loads);
        const TaskCounts ends = loads_after(loads, plan);
        CHECK(ends == targets_by_load(loads));
        const PlanMeasures least = least_measures(loads, ends);
        const PlanMeasures found = measure_plan(plan, loads.size());
        CHECK(found.tasks == least.tasks);
        CHECK(found.max_tasks_sent == least.max_tasks_sent);
        CHECK(found.max_tasks_received == least.max_tasks_received);
        CHECK((plan.empty() || rounds_of(loads, plan) == 1));
    }
}

TEST_CASE("flow balancers move tasks between neighbors and reach the floor or ceiling of the mean") {
    Rng rng(5);
    for (int draw = 0; draw < 200; ++draw) {
        const TaskCounts loads = random_loads(1 + rng.below(40), 1 + rng.below(30), rng);
        const EvenLoad even = compute_even_load(loads);
        for (const NeighborRule rule : {NeighborRule::ring, NeighborRule::hypercube}) {
            const RankNetwork network = make_rank_network(rule, loads.size());
            for (const Plan& plan :
                 {diffusion_plan(loads, network, 1, 1000), diffusion_plan(loads, network, 2, 1000),
                  diffusion_plan(loads, network, 1, 1), laplacian_plan(loads, network)}) {
                const auto [least, most] = std::ranges::minmax(loads_after(loads, plan));
                CHECK(least >= even.floor);
                CHECK(most <= even.ceiling);
                for (const TaskMove& move : plan) CHECK(is_neighbor_pair(network, move));
                CHECK(rounds_of(loads, plan) <= loads.size());
            }
        }
    }
}

TEST_CASE("integer diffusion ends when neighbors differ by at most one task") {
    Rng rng(6);
    for (int draw = 0; draw < 200; ++draw) {
        const TaskCounts loads = random_loads(1 + rng.below(40), 1 + rng.below(30), rng);
        const RankNetwork network = make_rank_network(NeighborRule::ring, loads.size());
        const Plan plan = integer_diffusion_plan(loads, network, 100000);
        const TaskCounts ends = loads_after(loads, plan);
        for (const auto& [low, high] : network.pairs) CHECK(std::abs(ends[low] - ends[high]) <= 1);
        for (const TaskMove& move : plan) CHECK(is_neighbor_pair(network, move));
        CHECK(rounds_of(loads, plan) <= 100000);
    }
}

TEST_CASE("on a ring of four ranks, half of the excess flows in each direction") {
    const TaskCounts loads{8, 0, 0, 0};
    const RankNetwork ring = make_rank_network(NeighborRule::ring, 4);
    const Plan plan = make_plan_of({{0, 1, 3}, {0, 3, 3}, {1, 2, 1}, {3, 2, 1}});
    CHECK(laplacian_plan(loads, ring) == plan);
    CHECK(diffusion_plan(loads, ring, 1, 1000) == plan);
    CHECK(diffusion_plan(loads, ring, 2, 1000) == plan);
}

TEST_CASE("diffusion differs from the least-squares flow by only fractions of a task") {
    Rng rng(7);
    for (int draw = 0; draw < 20; ++draw) {
        TaskCounts loads = random_even_loads(32, 9, rng);
        for (std::int64_t& load : loads) load *= 1000;
        const RankNetwork network = make_rank_network(NeighborRule::hypercube, loads.size());
        const double least = sum_of_squares(laplacian_plan(loads, network));
        CHECK(sum_of_squares(diffusion_plan(loads, network, 1, 1000)) ==
              doctest::Approx(least).epsilon(1e-3));
        CHECK(sum_of_squares(diffusion_plan(loads, network, 2, 1000)) ==
              doctest::Approx(least).epsilon(1e-3));
    }
}
