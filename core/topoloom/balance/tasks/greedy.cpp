// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

std::vector<Rank> balance_greedily(const Tasks& tasks) {
    check_tasks(tasks);
    std::vector<std::size_t> order(tasks.loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t task) { return tasks.loads[task]; });
    const double average =
        std::accumulate(tasks.loads.begin(), tasks.loads.end(), 0.0) / static_cast<double>(tasks.ranks);
    const double most = (1 + tasks.tolerance) * average;
    std::vector<Rank> rank_of(tasks.owners.begin(), tasks.owners.end());
    std::vector<double> load(tasks.ranks, 0.0);
    using Entry = std::pair<double, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> least;  // some entries are outdated
    for (std::uint32_t rank = 0; rank < tasks.ranks; ++rank) least.emplace(0.0, rank);
    for (const std::size_t task : order) {
        std::uint32_t to = rank_of[task].value;
        if (load[to] + tasks.loads[task] > most) {
            while (least.top().first != load[least.top().second]) least.pop();
            to = least.top().second;
        }
        rank_of[task] = Rank{to};
        load[to] += tasks.loads[task];
        least.emplace(load[to], to);
    }
    return rank_of;
}

}  // namespace topoloom
