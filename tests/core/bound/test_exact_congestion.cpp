// SPDX-License-Identifier: BSD-3-Clause
// Minimum congestion compared with enumeration.
#include <limits>
#include <string>

#include "bound/bound_cases.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/exact_congestion.hpp"

using namespace topoloom;

TEST_CASE("the search for minimum congestion finds the best of all placements") {
    for_each_bound_case(5, [](const CommGraph& graph, const Allocation& allocation, Rng&) {
        if (allocation.machine().text().find("ugal") != std::string::npos) return;
        const BoundProblem problem(graph, allocation);
        const Budget budget;
        Meter meter(budget);
        const double known = congestion_bound(problem, meter).value;
        const bound::ExactCongestion found =
            bound::min_congestion(problem, id_list<Position>(graph.rank_count()), {}, known, meter);
        double least = std::numeric_limits<double>::infinity();
        for_each_placement(allocation, graph.rank_count(), [&](const Placement& placement) {
            least = std::min(least, judge(graph, allocation.machine(), placement, 1).congestion_max);
        });
        CHECK(found.value == doctest::Approx(least).epsilon(1e-9));
        CHECK(found.lower_bound == found.value);
        std::vector<Slot> slots;
        for (const Position at : found.position_of_rank) slots.push_back(allocation.slots()[at.value]);
        CHECK(judge(graph, allocation.machine(), {allocation, slots}, 1).congestion_max ==
              doctest::Approx(found.value).epsilon(1e-9));
    });
}

TEST_CASE("an interrupted search for minimum congestion keeps the bound known before") {
    Rng rng(2);
    const Machine machine = make_machine("torus:3x3");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_pattern(9, 40, rng);
    const BoundProblem problem(graph, allocation);
    const Budget budget{.work = 200};
    Meter meter(budget);
    const bound::ExactCongestion found = bound::min_congestion(problem, id_list<Position>(9), {}, 1.0, meter);
    CHECK(found.lower_bound == 1.0);
    CHECK(found.value > 1.0);
    CHECK(found.nodes < 30);
}

TEST_CASE("routes that depend on the load are refused") {
    Rng rng(2);
    const Machine machine = make_machine("dragonfly:6x3,arrangement=direct,routing=ugal");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_pattern(4, 9, rng);
    const BoundProblem problem(graph, allocation);
    const Budget budget;
    Meter meter(budget);
    CHECK_THROWS_AS((void)bound::min_congestion(problem, id_list<Position>(4), {}, 0, meter), Error);
    CHECK_THROWS_AS((void)bound::min_congestion(problem, id_list<Position>(3), {}, 0, meter), Error);
}
