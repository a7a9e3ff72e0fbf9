// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/exact_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "topoloom/balance/tasks/measures.hpp"
#include "topoloom/balance/tasks/task_partition.hpp"

namespace topoloom {

namespace {

constexpr int max_steps = 200'000;
constexpr std::size_t max_tasks = 40;
constexpr std::size_t max_places = 400;  // maximum of tasks times ranks
class ExactSearch {
   public:
    explicit ExactSearch(const Tasks& tasks)
        : tasks_(tasks),
          distance_(tasks),
          count_(tasks.loads.size()),
          ranks_(tasks.ranks),
          limit_(load_limit(tasks)),
          order_(count_),
          weight_(count_ * count_, 0),
          cost_((tasks.graph == nullptr ? 1 : count_ + 1) * count_ * ranks_, 0),
          load_(ranks_, 0),
          bytes_(ranks_, 0),
          owner_(count_, Rank{0}) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t task) { return tasks.loads[task]; });
        for (const Rank task : ids<Rank>(tasks.graph == nullptr ? 0 : count_)) {
            for (const Edge edge : tasks.graph->sends(task)) {
                const double bytes = tasks.periods * static_cast<double>(edge.bytes.value);
                weight_[task.value * count_ + edge.peer.value] += bytes;
                weight_[edge.peer.value * count_ + task.value] += bytes;
            }
        }
        for (std::size_t task = 0; task < count_; ++task) {
            const Part home{tasks.owners[task].value};
            for (const Part rank : ids<Part>(ranks_))
                cost_[task * ranks_ + rank.value] = static_cast<double>(size(task)) * distance_(home, rank);
        }
    }

    std::vector<Rank> run(std::span<const Rank> start) {
        best_.assign(start.begin(), start.end());
        if (!start.empty()) {
            best_load_ = std::max(limit_, std::ranges::max(sum_rank_loads(tasks_, start)));
            best_cost_ = task_cost(tasks_, start);
        }
        unassigned_load_ = std::accumulate(tasks_.loads.begin(), tasks_.loads.end(), 0.0);
        search(0, 0, 0);
        return std::move(best_);
    }

   private:
    [[nodiscard]] std::int64_t size(std::size_t task) const {
        return tasks_.bytes.empty() ? 0 : tasks_.bytes[task];
    }
    [[nodiscard]] bool fits(std::size_t task, std::size_t rank) const {
        return load_[rank] + tasks_.loads[task] <= best_load_ * (1 + load_rounding) &&
               size(task) <= tasks_.memory - bytes_[rank];
    }
    /// By task and rank: cost of the task on the rank, given the tasks assigned so far.
    [[nodiscard]] double* costs(std::size_t depth) {
        return cost_.data() + (tasks_.graph == nullptr ? 0 : depth * count_ * ranks_);
    }

    /// Minimum cost of the unassigned tasks, ignoring messages between them; none if a task fits on no rank.
    [[nodiscard]] std::optional<double> bound_remaining_cost(std::size_t depth) {
        const double* cost = costs(depth);
        double sum = 0;
        for (std::size_t i = depth; i < count_; ++i) {
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t rank = 0; rank < ranks_; ++rank)
                if (fits(order_[i], rank)) least = std::min(least, cost[order_[i] * ranks_ + rank]);
            if (least == std::numeric_limits<double>::infinity()) return std::nullopt;
            sum += least;
        }
        return sum;
    }
    /// Ranks are interchangeable if their distances are equal and no unassigned task distinguishes them.
    [[nodiscard]] bool are_interchangeable(std::size_t depth, std::size_t a, std::size_t b) {
        if (!distance_.is_uniform() || load_[a] != load_[b] || bytes_[a] != bytes_[b]) return false;
        const double* cost = costs(depth);
        for (std::size_t i = depth; i < count_; ++i)
            if (cost[order_[i] * ranks_ + a] != cost[order_[i] * ranks_ + b]) return false;
        return true;
    }
    [[nodiscard]] std::vector<std::size_t> list_candidate_ranks(std::size_t depth) {
        const std::size_t task = order_[depth];
        const double* cost = costs(depth) + task * ranks_;
        std::vector<std::size_t> found;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            const auto is_as_before = [&](std::size_t other) {
                return are_interchangeable(depth, rank, other);
            };
            if (fits(task, rank) && std::ranges::none_of(found, is_as_before)) found.push_back(rank);
        }
        std::ranges::stable_sort(found, [&](std::size_t a, std::size_t b) {
            return cost[a] != cost[b] ? cost[a] < cost[b] : load_[a] < load_[b];
        });
        return found;
    }

    /// Whether this branch cannot improve on the best solution. `most`: the load of the busiest rank, or the
    /// limit if that is larger.
    [[nodiscard]] bool cannot_improve(double most, double cost) const {
        if (most < best_load_ * (1 - load_rounding)) return false;
        return most > best_load_ * (1 + load_rounding) || cost >= best_cost_ * (1 - load_rounding);
    }

    void search(std::size_t depth, double busiest, double cost) {
        const double most = std::max(limit_, busiest);
        if (depth == count_) {
            if (cannot_improve(most, cost)) return;
            best_load_ = most;
            best_cost_ = cost;
            best_ = owner_;
            return;
        }
        if (++nodes_ > max_steps) return;
        const std::optional<double> rest = bound_remaining_cost(depth);
        if (!rest || cannot_improve(most, cost + *rest)) return;
        double free_load = 0;
        for (const double load : load_) free_load += best_load_ - load;
        if (free_load < unassigned_load_ * (1 - load_rounding)) return;
        const std::size_t task = order_[depth];
        for (const std::size_t rank : list_candidate_ranks(depth)) {
            if (!fits(task, rank)) continue;  // the limit from the best solution has become tighter
            assign_task(depth, rank);
            search(depth + 1, std::max(busiest, load_[rank]), cost + costs(depth)[task * ranks_ + rank]);
            unassign_task(depth, rank);
        }
    }

    void assign_task(std::size_t depth, std::size_t rank) {
        const std::size_t task = order_[depth];
        owner_[task] = Rank{rank};
        load_[rank] += tasks_.loads[task];
        bytes_[rank] += size(task);
        unassigned_load_ -= tasks_.loads[task];
        if (tasks_.graph == nullptr) return;
        const double* now = costs(depth);
        double* then = costs(depth + 1);
        for (std::size_t i = depth + 1; i < count_; ++i) {
            const std::size_t other = order_[i];
            const double bytes = weight_[task * count_ + other];
            for (const Part at : ids<Part>(ranks_)) {
                const std::size_t place = other * ranks_ + at.value;
                then[place] = now[place] + (bytes > 0 ? bytes * distance_(Part{rank}, at) : 0);
            }
        }
    }
    void unassign_task(std::size_t depth, std::size_t rank) {
        const std::size_t task = order_[depth];
        load_[rank] -= tasks_.loads[task];
        bytes_[rank] -= size(task);
        unassigned_load_ += tasks_.loads[task];
    }

    const Tasks& tasks_;
    RankDistance distance_;
    std::size_t count_, ranks_;
    double limit_;
    std::vector<std::size_t> order_;  // heaviest task first
    std::vector<double> weight_;      // bytes in all periods, by pair of tasks
    std::vector<double> cost_;        // cost by depth, task and rank
    std::vector<double> load_;
    std::vector<std::int64_t> bytes_;
    double unassigned_load_ = 0;  // load of unassigned tasks
    std::vector<Rank> owner_, best_;
    double best_load_ = std::numeric_limits<double>::infinity();
    double best_cost_ = std::numeric_limits<double>::infinity();
    int nodes_ = 0;
};

}  // namespace

std::vector<Rank> find_exact_owners(const Tasks& tasks, std::span<const Rank> start) {
    const std::size_t count = tasks.loads.size();
    if (count > max_tasks || count * tasks.ranks > max_places) return {start.begin(), start.end()};
    return ExactSearch(tasks).run(start);
}

}  // namespace topoloom
