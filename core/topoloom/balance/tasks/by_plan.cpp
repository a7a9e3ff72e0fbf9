// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

namespace {

constexpr double parts_of_average = 10'000;

/// Bytes that a task exchanges with tasks of rank `to`, minus those with tasks of rank `from`.
std::int64_t pull_bytes(const CommGraph& symmetric, std::span<const Rank> rank_of, std::size_t task,
                        Rank from, Rank to) {
    std::int64_t more = 0;
    for (const Edge edge : symmetric.sends(Rank{task})) {
        const Rank at = rank_of[edge.peer.value];
        if (at == to) more += edge.bytes.value;
        if (at == from) more -= edge.bytes.value;
    }
    return more;
}

/// Tasks by rank; supports moving tasks between ranks.
class TasksByRank {
   public:
    TasksByRank(const Tasks& tasks, const CommGraph* symmetric)
        : tasks_(tasks),
          symmetric_(symmetric),
          rank_of_(tasks.owners.begin(), tasks.owners.end()),
          tasks_of_rank_(tasks.ranks) {
        for (std::size_t task = 0; task < rank_of_.size(); ++task)
            tasks_of_rank_[rank_of_[task].value].push_back(task);
    }

    /// Moves tasks while this brings the moved load closer to `load`; returns the part of `load` that has not
    /// moved.
    double move_tasks(Rank from, Rank to, double load) {
        std::vector<std::pair<std::int64_t, std::size_t>> candidates;
        for (const std::size_t task : tasks_of_rank_[from.value]) {
            if (tasks_.loads[task] <= 0) continue;
            candidates.emplace_back(
                symmetric_ == nullptr ? 0 : pull_bytes(*symmetric_, rank_of_, task, from, to), task);
        }
        // Strongest pull first; on ties the heaviest task, because light tasks can fill the rest; then the
        // lowest number.
        std::ranges::sort(candidates, [&](const auto& a, const auto& b) {
            if (a.first != b.first) return a.first > b.first;
            if (tasks_.loads[a.second] != tasks_.loads[b.second])
                return tasks_.loads[a.second] > tasks_.loads[b.second];
            return a.second < b.second;
        });
        for (const auto& candidate : candidates) {
            const double weight = tasks_.loads[candidate.second];
            if (weight >= 2 * load) continue;
            load -= weight;
            rank_of_[candidate.second] = to;
            tasks_of_rank_[to.value].push_back(candidate.second);
        }
        std::erase_if(tasks_of_rank_[from.value], [&](std::size_t task) { return rank_of_[task] != from; });
        return load;
    }
    [[nodiscard]] double load_of(Rank rank) const {
        double sum = 0;
        for (const std::size_t task : tasks_of_rank_[rank.value]) sum += tasks_.loads[task];
        return sum;
    }
    [[nodiscard]] std::vector<Rank> take() { return std::move(rank_of_); }

   private:
    const Tasks& tasks_;
    const CommGraph* symmetric_;
    std::vector<Rank> rank_of_;
    std::vector<std::vector<std::size_t>> tasks_of_rank_;
};

}  // namespace

std::vector<Rank> balance_by_plan(const Tasks& tasks, std::string_view method) {
    check_tasks(tasks);
    const std::vector<double> loads = sum_rank_loads(tasks, tasks.owners);
    const double average =
        std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(tasks.ranks);
    const double part = average > 0 ? average / parts_of_average : 1;
    std::vector<std::int64_t> parts;
    for (const double load : loads) parts.push_back(std::llround(load / part));
    const Plan plan = balance({parts, tasks.machine, tasks.slots}, method);

    CommGraph symmetric;
    if (tasks.graph != nullptr) symmetric = tasks.graph->symmetric();
    TasksByRank holders(tasks, tasks.graph != nullptr ? &symmetric : nullptr);
    std::vector<double> open;
    for (const TaskMove& move : plan) open.push_back(static_cast<double>(move.tasks) * part);
    // Plans that forward tasks take several rounds.
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t i = 0; i < plan.size(); ++i) {
            if (open[i] <= 0) continue;
            const double wanted = std::min(open[i], holders.load_of(plan[i].from));
            const double given = wanted - holders.move_tasks(plan[i].from, plan[i].to, wanted);
            open[i] -= given;
            goes_on |= given > 0;
        }
    }
    return holders.take();
}

}  // namespace topoloom
