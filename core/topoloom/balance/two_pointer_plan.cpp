// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/two_pointer_plan.hpp"

#include <algorithm>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/target_loads.hpp"

namespace topoloom {

Plan two_pointer_plan(std::span<const std::int64_t> loads) {
    std::vector<std::int64_t> excess = targets_by_load(loads);
    for (std::size_t i = 0; i < loads.size(); ++i) excess[i] = loads[i] - excess[i];
    Plan plan;
    std::size_t receiver = 0;
    for (std::size_t sender = 0; sender < excess.size(); ++sender) {
        while (excess[sender] > 0) {
            while (excess[receiver] >= 0) ++receiver;
            const std::int64_t tasks = std::min(excess[sender], -excess[receiver]);
            plan.push_back({Rank{sender}, Rank{receiver}, tasks});
            excess[sender] -= tasks;
            excess[receiver] += tasks;
        }
    }
    return plan;
}

namespace {

Plan run_two_pointers(const BalanceProblem& problem) { return two_pointer_plan(problem.loads); }

}  // namespace

Balancer two_pointer_balancer() {
    return balancer<run_two_pointers>(
        {.name = "qwalk",
         .summary = "the first rank with a surplus sends to the first rank with a deficit",
         .source = "Wagner, Bajdich, Mitas 2009 (QWalk); Sudheer 2012, ch. 5"});
}

}  // namespace topoloom
