// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/sweep.hpp"

#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/target_loads.hpp"

namespace topoloom {

namespace {

Plan by_sweep(const BalanceProblem& problem) { return sweep_plan(problem.loads); }

}  // namespace

Plan sweep_plan(std::span<const std::int64_t> loads) {
    const std::vector<std::int64_t> ends = target_loads(loads);
    std::vector<std::uint32_t> givers;
    std::vector<std::uint32_t> receivers;
    for (std::uint32_t i = 0; i < loads.size(); ++i) {
        if (loads[i] > ends[i]) givers.push_back(i);
        if (loads[i] < ends[i]) receivers.push_back(i);
    }
    Plan moves;
    if (givers.empty()) return moves;
    moves.reserve(givers.size() + receivers.size());
    std::size_t giver = 0;
    std::int64_t left = loads[givers[0]] - ends[givers[0]];
    const auto go_on = [&] {
        const std::int64_t lack = -left;
        if (lack > 0) moves.push_back({Rank{givers[giver + 1]}, Rank{givers[giver]}, lack});
        ++giver;
        left = loads[givers[giver]] - ends[givers[giver]] - lack;
    };
    for (const std::uint32_t to : receivers) {
        while (left <= 0) go_on();
        const std::int64_t tasks = ends[to] - loads[to];
        moves.push_back({Rank{givers[giver]}, Rank{to}, tasks});
        left -= tasks;
    }
    while (left < 0) go_on();
    return make_plan(std::move(moves));
}

Balancer sweep_balancer() {
    return balancer<by_sweep>({.name = "sweep",
                               .summary = "as alias, but ranks that gave too much are served next; ranks can "
                                          "decide it without knowing all loads",
                               .source = "Hübschle-Schneider, Sanders 2019"});
}

}  // namespace topoloom
