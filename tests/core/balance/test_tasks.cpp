// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"

using namespace topoloom;

namespace {

std::vector<Rank> make_ranks(const std::vector<std::uint32_t>& numbers) {
    std::vector<Rank> ranks;
    for (const std::uint32_t number : numbers) ranks.emplace_back(number);
    return ranks;
}

}  // namespace

TEST_CASE("greedy balancing moves only the excess of a rank") {
    const std::vector<double> loads{4, 3, 2, 1, 1, 1};
    const std::vector<Rank> present = make_ranks({0, 0, 0, 1, 1, 2});
    Tasks tasks{.loads = loads, .owners = present, .ranks = 3, .tolerance = 0};
    // The average is 4: the first task fills rank 0, the second goes to the first empty rank.
    CHECK(balance_greedily(tasks) == make_ranks({0, 1, 2, 1, 2, 2}));
    // No rank is above the limit, so all tasks stay.
    tasks.tolerance = 2;
    CHECK(balance_greedily(tasks) == present);
}

TEST_CASE("a rank sends the tasks whose neighbors are on the receiving rank") {
    // Ranks 0 and 1 have loads 4 and 2: one of four equal tasks moves, and only task 2 communicates with rank 1.
    const std::vector<double> loads(6, 1);
    const std::vector<Rank> present = make_ranks({0, 0, 0, 0, 1, 1});
    const std::vector<Rank> from = make_ranks({0, 2}), to = make_ranks({1, 4});
    const std::vector<Bytes> bytes{Bytes{10}, Bytes{10}};
    const CommGraph graph = CommGraph::from_edges(6, from, to, bytes);
    const Tasks tasks{.loads = loads, .owners = present, .ranks = 2, .graph = &graph};
    for (const char* method : {"alias", "diffusion", "laplacian"}) {
        INFO(std::string(method));
        CHECK(balance_by_plan(tasks, method) == make_ranks({0, 0, 1, 0, 1, 1}));
    }
}

TEST_CASE("a plan of several rounds forwards tasks") {
    // All tasks are on rank 0 of a ring of 8, along which diffusion forwards them.
    const std::vector<double> loads(64, 0.5);
    const std::vector<Rank> present(64, Rank{0});
    const Tasks tasks{loads, present, 8};
    const std::vector<double> ends =
        sum_rank_loads(tasks, balance_by_plan(tasks, "diffusion(neighbors=ring)"));
    CHECK(std::ranges::max(ends) <= 4.5);
    CHECK(std::ranges::min(ends) >= 3.5);
}

TEST_CASE("tasks of unequal load leave every rank near the mean") {
    Rng rng(3, 0);
    std::vector<double> loads;
    std::vector<Rank> present;
    for (int i = 0; i < 400; ++i) {
        loads.push_back(1 + static_cast<double>(rng.below(100)) / 50);
        present.emplace_back(static_cast<std::uint32_t>(rng.below(4) * rng.below(4)));
    }
    const Tasks tasks{loads, present, 10};
    double sum = 0;
    for (const double load : loads) sum += load;
    CHECK(std::ranges::max(sum_rank_loads(tasks, present)) > 1.5 * sum / 10);
    CHECK(std::ranges::max(sum_rank_loads(tasks, balance_greedily(tasks))) < 1.03 * sum / 10);
    for (const char* method : {"alias", "qwalk", "diffusion"}) {
        INFO(std::string(method));
        CHECK(std::ranges::max(sum_rank_loads(tasks, balance_by_plan(tasks, method))) < 1.05 * sum / 10);
    }
    CHECK_THROWS_AS(static_cast<void>(balance_by_plan(tasks, "alais")), Error);
}
