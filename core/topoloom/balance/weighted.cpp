// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/weighted.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// For loads that are summed in another order.
constexpr double rounding = 1e-12;

void check(const WeightedTasks& tasks) {
    if (tasks.ranks == 0) fail("there are no ranks");
    if (tasks.bytes.size() != tasks.loads.size() || tasks.owners.size() != tasks.loads.size())
        fail("there are loads of ", tasks.loads.size(), " tasks, but bytes of ", tasks.bytes.size(),
             " and owners of ", tasks.owners.size());
    if (!(tasks.tolerance >= 0) || !std::isfinite(tasks.tolerance))
        fail("a tolerance is 0 or more, not ", tasks.tolerance);
    double all_bytes = 0;
    for (std::size_t i = 0; i < tasks.loads.size(); ++i) {
        if (!(tasks.loads[i] >= 0) || !std::isfinite(tasks.loads[i]))
            fail("task ", i, " has a load of ", tasks.loads[i], "; loads are finite and at least 0");
        if (tasks.bytes[i] < 0) fail("task ", i, " has ", tasks.bytes[i], " bytes; it has at least 0");
        if (tasks.bytes[i] > tasks.memory)
            fail("task ", i, " has ", tasks.bytes[i], " bytes, and a rank has memory for ", tasks.memory);
        if (tasks.owners[i].value >= tasks.ranks)
            fail("task ", i, " is on rank ", tasks.owners[i].value, ", which is none of the ranks 0 to ",
                 tasks.ranks - 1);
        all_bytes += static_cast<double>(tasks.bytes[i]);
    }
    if (all_bytes >= 0x1p62) fail("the bytes of all tasks add up to 2^62 or more");
    if (all_bytes > static_cast<double>(tasks.memory) * static_cast<double>(tasks.ranks))
        fail("tasks have ", static_cast<std::int64_t>(all_bytes), " bytes, and ", tasks.ranks,
             " ranks have memory for ", tasks.memory, " each");
}

class Resettlement {
   public:
    explicit Resettlement(const WeightedTasks& tasks)
        : tasks_(tasks),
          owners_(tasks.owners.begin(), tasks.owners.end()),
          held_(tasks.ranks),
          load_(tasks.ranks, 0),
          bytes_(tasks.ranks, 0) {
        for (std::uint32_t i = 0; i < owners_.size(); ++i) held_[owners_[i].value].push_back(i);
        for (std::uint32_t rank = 0; rank < tasks.ranks; ++rank) {
            for (const std::uint32_t task : held_[rank]) load_[rank] += tasks.loads[task];
            for (const std::uint32_t task : held_[rank]) bytes_[rank] += tasks.bytes[task];
        }
        const double mean = std::reduce(load_.begin(), load_.end()) / static_cast<double>(tasks.ranks);
        const double largest = tasks.loads.empty() ? 0 : *std::ranges::max_element(tasks.loads);
        limit_ = std::max(mean * (1 + tasks.tolerance), largest) * (1 + rounding);
    }

    WeightedBalance run() {
        WeightedBalance found;
        found.load_limit = limit_;
        for (std::uint32_t rank = 0; rank < held_.size(); ++rank) found.least_bytes += give(rank);
        for (std::uint32_t rank = 0; rank < held_.size(); ++rank) by_load_.emplace(load_[rank], rank);
        settle();
        found.load_max = by_load_.empty() ? 0 : by_load_.rbegin()->first;
        for (std::size_t i = 0; i < owners_.size(); ++i)
            found.moved_bytes += owners_[i] == tasks_.owners[i] ? 0 : tasks_.bytes[i];
        found.owners = std::move(owners_);
        return found;
    }

   private:
    using Waiting = std::pair<double, std::uint32_t>;  // load and task, the heaviest first

    /// Few bytes for their load first; of equal ones the lowest.
    void sort_by_price(std::vector<std::uint32_t>& list) const {
        std::ranges::sort(list, [&](std::uint32_t a, std::uint32_t b) {
            const double left = static_cast<double>(tasks_.bytes[a]) * tasks_.loads[b];
            const double right = static_cast<double>(tasks_.bytes[b]) * tasks_.loads[a];
            return left != right ? left < right : a < b;
        });
    }
    [[nodiscard]] bool exceeds(std::uint32_t rank) const {
        return load_[rank] > limit_ || bytes_[rank] > tasks_.memory;
    }
    void take_away(std::uint32_t rank, std::uint32_t task) {
        load_[rank] -= tasks_.loads[task];
        bytes_[rank] -= tasks_.bytes[task];
    }
    [[nodiscard]] bool has_room(std::uint32_t rank, std::uint32_t task) const {
        return load_[rank] + tasks_.loads[task] <= limit_ && has_memory(rank, task);
    }
    [[nodiscard]] bool has_memory(std::uint32_t rank, std::uint32_t task) const {
        return tasks_.bytes[task] <= tasks_.memory - bytes_[rank];
    }

    /// Takes away what a rank has too much; returns how many bytes at least that must be.
    std::int64_t give(std::uint32_t rank) {
        if (!exceeds(rank)) return 0;
        std::vector<std::uint32_t>& list = held_[rank];
        sort_by_price(list);
        double open = load_[rank] - limit_;
        double least = std::max(0.0, static_cast<double>(bytes_[rank]) - static_cast<double>(tasks_.memory));
        double bought = 0;
        std::vector<std::uint32_t> given;
        for (const std::uint32_t task : list) {
            if (open > 0) {
                bought += static_cast<double>(tasks_.bytes[task]) * std::min(1.0, open / tasks_.loads[task]);
                open -= tasks_.loads[task];
            }
            if (!exceeds(rank) || (load_[rank] > limit_ && tasks_.loads[task] == 0)) continue;
            take_away(rank, task);
            given.push_back(task);
        }
        // The dearest ones first: what fits again stays.
        std::ranges::stable_sort(given, std::greater(),
                                 [&](std::uint32_t task) { return tasks_.bytes[task]; });
        std::erase_if(given, [&](std::uint32_t task) {
            if (!has_room(rank, task)) return false;
            load_[rank] += tasks_.loads[task];
            bytes_[rank] += tasks_.bytes[task];
            return true;
        });
        for (const std::uint32_t task : given) waiting_.emplace(tasks_.loads[task], task);
        const std::set<std::uint32_t> gone(given.begin(), given.end());
        std::erase_if(list, [&](std::uint32_t task) { return gone.contains(task); });
        least = std::max(least, bought);
        return static_cast<std::int64_t>(std::ceil(least * (1 - rounding)));
    }

    void put(std::uint32_t rank, std::uint32_t task) {
        by_load_.erase({load_[rank], rank});
        load_[rank] += tasks_.loads[task];
        bytes_[rank] += tasks_.bytes[task];
        by_load_.emplace(load_[rank], rank);
        held_[rank].push_back(task);
        owners_[task] = Rank{rank};
    }

    /// Home again if it fits, else to the fullest rank in which it does.
    bool find_place(std::uint32_t task) {
        const std::uint32_t home = tasks_.owners[task].value;
        if (has_room(home, task)) return put(home, task), true;
        auto at =
            by_load_.upper_bound({limit_ - tasks_.loads[task], std::numeric_limits<std::uint32_t>::max()});
        while (at != by_load_.begin()) {
            --at;
            if (!has_room(at->second, task)) continue;
            put(at->second, task);
            return true;
        }
        return false;
    }

    /// On the least loaded rank that has memory, from which lighter tasks go.
    void make_room(std::uint32_t task) {
        const auto at =
            std::ranges::find_if(by_load_, [&](const auto& one) { return has_memory(one.second, task); });
        if (at == by_load_.end())
            fail("no rank has memory left for task ", task, " of ", tasks_.bytes[task], " bytes");
        const std::uint32_t rank = at->second;
        put(rank, task);
        std::vector<std::uint32_t> list = held_[rank];
        sort_by_price(list);
        for (const std::uint32_t other : list) {
            if (load_[rank] <= limit_) break;
            if (tasks_.loads[other] >= tasks_.loads[task] || tasks_.loads[other] == 0) continue;
            by_load_.erase({load_[rank], rank});
            take_away(rank, other);
            by_load_.emplace(load_[rank], rank);
            std::erase(held_[rank], other);
            waiting_.emplace(tasks_.loads[other], other);
        }
    }

    void settle() {
        while (!waiting_.empty()) {
            const std::uint32_t task = waiting_.top().second;
            waiting_.pop();
            if (!find_place(task)) make_room(task);
        }
    }

    const WeightedTasks& tasks_;
    std::vector<Rank> owners_;
    std::vector<std::vector<std::uint32_t>> held_;
    std::vector<double> load_;
    std::vector<std::int64_t> bytes_;
    double limit_ = 0;
    std::set<std::pair<double, std::uint32_t>> by_load_;
    std::priority_queue<Waiting> waiting_;
};

}  // namespace

WeightedBalance balance_weighted(const WeightedTasks& tasks) {
    check(tasks);
    return Resettlement(tasks).run();
}

}  // namespace topoloom
