// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/sweep.hpp"

#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/target_loads.hpp"

namespace topoloom {

namespace {

Plan run_sweep(const BalanceProblem& problem) { return sweep_plan(problem.loads); }

}  // namespace

Plan sweep_plan(std::span<const std::int64_t> loads) {
    const std::vector<std::int64_t> ends = target_loads(loads);
    std::vector<std::uint32_t> senders;
    std::vector<std::uint32_t> receivers;
    for (std::uint32_t i = 0; i < loads.size(); ++i) {
        if (loads[i] > ends[i]) senders.push_back(i);
        if (loads[i] < ends[i]) receivers.push_back(i);
    }
    Plan moves;
    if (senders.empty()) return moves;
    moves.reserve(senders.size() + receivers.size());
    std::size_t sender = 0;
    std::int64_t left = loads[senders[0]] - ends[senders[0]];
    const auto go_on = [&] {
        const std::int64_t lack = -left;
        if (lack > 0) moves.push_back({Rank{senders[sender + 1]}, Rank{senders[sender]}, lack});
        ++sender;
        left = loads[senders[sender]] - ends[senders[sender]] - lack;
    };
    for (const std::uint32_t to : receivers) {
        while (left <= 0) go_on();
        const std::int64_t tasks = ends[to] - loads[to];
        moves.push_back({Rank{senders[sender]}, Rank{to}, tasks});
        left -= tasks;
    }
    while (left < 0) go_on();
    return make_plan(std::move(moves));
}

Balancer sweep_balancer() {
    return balancer<run_sweep>({.name = "sweep",
                                .summary = "as alias, but a sender below its target is the next receiver; "
                                           "ranks can compute the plan without all loads",
                                .source = "Hübschle-Schneider, Sanders 2019"});
}

}  // namespace topoloom
