// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/few_bytes.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "topoloom/balance/tasks/cover.hpp"
#include "topoloom/balance/tasks/exact_search.hpp"
#include "topoloom/balance/tasks/improve_owners.hpp"
#include "topoloom/balance/tasks/measures.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

class FewBytesSearch {
   public:
    explicit FewBytesSearch(const Tasks& tasks)
        : tasks_(tasks),
          owners_(tasks.owners.begin(), tasks.owners.end()),
          tasks_of_rank_(tasks.ranks),
          load_(tasks.ranks, 0),
          bytes_(tasks.ranks, 0),
          limit_(load_limit(tasks)) {
        for (std::uint32_t i = 0; i < owners_.size(); ++i) {
            const std::uint32_t rank = owners_[i].value;
            tasks_of_rank_[rank].push_back(i);
            load_[rank] += tasks.loads[i];
            bytes_[rank] += size(i);
        }
    }

    std::vector<Rank> run() {
        for (std::uint32_t rank = 0; rank < tasks_of_rank_.size(); ++rank) remove_excess(rank);
        for (std::uint32_t rank = 0; rank < tasks_of_rank_.size(); ++rank)
            by_load_.emplace(load_[rank], rank);
        assign_waiting_tasks();
        return std::move(owners_);
    }

   private:
    using Waiting = std::pair<double, std::uint32_t>;  // load and task, heaviest task first

    [[nodiscard]] std::int64_t size(std::uint32_t task) const {
        return tasks_.bytes.empty() ? 0 : tasks_.bytes[task];
    }
    /// Sorts by bytes per load, tasks without load last; on ties the lowest task first.
    void sort_by_bytes_per_load(std::vector<std::uint32_t>& list) const {
        std::ranges::sort(list, [&](std::uint32_t a, std::uint32_t b) {
            const bool weighs = tasks_.loads[a] > 0;
            if (weighs != (tasks_.loads[b] > 0)) return weighs;
            const double left = static_cast<double>(size(a)) * tasks_.loads[b];
            const double right = static_cast<double>(size(b)) * tasks_.loads[a];
            return left != right ? left < right : a < b;
        });
    }
    [[nodiscard]] bool exceeds_limits(std::uint32_t rank) const {
        return load_[rank] > limit_ || bytes_[rank] > tasks_.memory;
    }
    void remove_task(std::uint32_t rank, std::uint32_t task) {
        load_[rank] -= tasks_.loads[task];
        bytes_[rank] -= size(task);
    }
    [[nodiscard]] bool has_room(std::uint32_t rank, std::uint32_t task) const {
        return load_[rank] + tasks_.loads[task] <= limit_ && has_memory(rank, task);
    }
    [[nodiscard]] bool has_memory(std::uint32_t rank, std::uint32_t task) const {
        return size(task) <= tasks_.memory - bytes_[rank];
    }

    /// Removes tasks from a rank until it is within its limits.
    void remove_excess(std::uint32_t rank) {
        if (!exceeds_limits(rank)) return;
        if (tasks_.poll) tasks_.poll();
        std::vector<std::uint32_t>& list = tasks_of_rank_[rank];
        sort_by_bytes_per_load(list);
        std::vector<std::uint32_t> removed;
        const auto remove_from_rank = [&](std::uint32_t task) {
            remove_task(rank, task);
            removed.push_back(task);
        };
        if (load_[rank] > limit_)
            std::ranges::for_each(cheapest_cover(tasks_, list, load_[rank] - limit_).tasks, remove_from_rank);
        const std::set<std::uint32_t> first(removed.begin(), removed.end());
        for (const std::uint32_t task : list) {
            if (!exceeds_limits(rank)) break;
            if (first.contains(task) || (load_[rank] > limit_ && tasks_.loads[task] == 0)) continue;
            remove_from_rank(task);
        }
        // Take back removed tasks that fit after all, the largest first.
        std::ranges::stable_sort(removed, std::greater(), [&](std::uint32_t task) { return size(task); });
        std::erase_if(removed, [&](std::uint32_t task) {
            if (!has_room(rank, task)) return false;
            load_[rank] += tasks_.loads[task];
            bytes_[rank] += size(task);
            return true;
        });
        for (const std::uint32_t task : removed) waiting_.emplace(tasks_.loads[task], task);
        const std::set<std::uint32_t> gone(removed.begin(), removed.end());
        std::erase_if(list, [&](std::uint32_t task) { return gone.contains(task); });
    }

    void assign_task(std::uint32_t rank, std::uint32_t task) {
        by_load_.erase({load_[rank], rank});
        load_[rank] += tasks_.loads[task];
        bytes_[rank] += size(task);
        by_load_.emplace(load_[rank], rank);
        tasks_of_rank_[rank].push_back(task);
        owners_[task] = Rank{rank};
    }

    /// Returns the task to its owner if it fits, otherwise to the fullest rank that has room.
    bool assign_to_rank_with_room(std::uint32_t task) {
        const std::uint32_t home = tasks_.owners[task].value;
        if (has_room(home, task)) return assign_task(home, task), true;
        auto at =
            by_load_.upper_bound({limit_ - tasks_.loads[task], std::numeric_limits<std::uint32_t>::max()});
        while (at != by_load_.begin()) {
            --at;
            if (!has_room(at->second, task)) continue;
            assign_task(at->second, task);
            return true;
        }
        return false;
    }

    /// Puts the task on the least loaded rank that has memory, and removes lighter tasks from it.
    void force_onto_rank(std::uint32_t task) {
        if (tasks_.poll) tasks_.poll();
        const auto at =
            std::ranges::find_if(by_load_, [&](const auto& one) { return has_memory(one.second, task); });
        if (at == by_load_.end())
            fail("no rank has memory left for task ", task, " of ", size(task), " bytes");
        const std::uint32_t rank = at->second;
        assign_task(rank, task);
        std::vector<std::uint32_t> list = tasks_of_rank_[rank];
        sort_by_bytes_per_load(list);
        for (const std::uint32_t other : list) {
            if (load_[rank] <= limit_) break;
            if (tasks_.loads[other] >= tasks_.loads[task] || tasks_.loads[other] == 0) continue;
            by_load_.erase({load_[rank], rank});
            remove_task(rank, other);
            by_load_.emplace(load_[rank], rank);
            std::erase(tasks_of_rank_[rank], other);
            waiting_.emplace(tasks_.loads[other], other);
        }
    }

    void assign_waiting_tasks() {
        while (!waiting_.empty()) {
            const std::uint32_t task = waiting_.top().second;
            waiting_.pop();
            if (!assign_to_rank_with_room(task)) force_onto_rank(task);
        }
    }

    const Tasks& tasks_;
    std::vector<Rank> owners_;
    std::vector<std::vector<std::uint32_t>> tasks_of_rank_;
    std::vector<double> load_;
    std::vector<std::int64_t> bytes_;
    double limit_;
    std::set<std::pair<double, std::uint32_t>> by_load_;
    std::priority_queue<Waiting> waiting_;
};

/// A copy of the tasks without messages, on ranks at equal distances.
Tasks without_messages_and_machine(const Tasks& tasks) {
    Tasks found = tasks;
    found.graph = nullptr;
    found.machine = nullptr;
    found.slots = {};
    return found;
}

/// The load of the busiest rank, or the limit if that is larger; then the task cost.
std::pair<double, double> rate_owners(const Tasks& tasks, std::span<const Rank> owners) {
    return {std::max(load_limit(tasks), std::ranges::max(sum_rank_loads(tasks, owners))),
            task_cost(tasks, owners)};
}

bool fits_memory(const Tasks& tasks, std::span<const Rank> owners) {
    std::vector<std::int64_t> bytes(tasks.ranks, 0);
    for (std::size_t task = 0; task < tasks.bytes.size(); ++task)
        bytes[owners[task].value] += tasks.bytes[task];
    return std::ranges::max(bytes) <= tasks.memory;
}

}  // namespace

std::vector<Rank> assign_with_few_bytes(const Tasks& tasks) {
    const Tasks problem = without_messages_and_machine(tasks);
    std::vector<Rank> best = FewBytesSearch(problem).run();
    std::pair<double, double> least = rate_owners(problem, best);
    if (least.first <= load_limit(problem)) return best;
    // A few large tasks may be packed better by the greedy policy.
    for (const std::vector<Rank>& start :
         {best, balance_greedily(problem), balance_by_plan(problem, "alias")}) {
        if (!fits_memory(problem, start)) continue;
        std::vector<Rank> found = improve_owners(problem, start);
        const std::pair<double, double> price = rate_owners(problem, found);
        if (price >= least) continue;
        least = price;
        best = std::move(found);
    }
    return best;
}

std::vector<Rank> balance_with_few_bytes(const Tasks& tasks) {
    check_tasks(tasks);
    const Tasks problem = without_messages_and_machine(tasks);
    std::vector<Rank> found;
    try {
        found = assign_with_few_bytes(problem);
    } catch (const Error&) {
        found = find_exact_owners(problem, {});
        if (found.empty()) throw;
        return found;
    }
    const TaskMeasures measures = measure_tasks(problem, found);
    const bool is_least =
        measures.load_max <= measures.load_limit && measures.moved_bytes == measures.least_bytes;
    return is_least ? found : find_exact_owners(problem, found);
}

}  // namespace topoloom
