// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/improve_owners.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace topoloom {

namespace {

constexpr std::int64_t max_examined_changes = 10'000'000;
constexpr std::size_t nothing = static_cast<std::size_t>(-1);

class OwnerImprovement {
   public:
    OwnerImprovement(const Tasks& tasks, std::vector<Rank> owners)
        : tasks_(tasks),
          owners_(std::move(owners)),
          tasks_of_rank_(tasks.ranks),
          load_(sum_rank_loads(tasks, owners_)),
          bytes_(tasks.ranks, 0),
          limit_(load_limit(tasks)) {
        for (std::size_t task = 0; task < owners_.size(); ++task) {
            tasks_of_rank_[owners_[task].value].push_back(task);
            bytes_[owners_[task].value] += size(task);
        }
        for (std::vector<std::size_t>& list : tasks_of_rank_)
            std::ranges::stable_sort(list, {}, [&](std::size_t task) { return tasks.loads[task]; });
    }

    std::vector<Rank> run() {
        while (examined_changes_ < max_examined_changes && lower_busiest()) {
        }
        const double most = std::max(limit_, std::ranges::max(load_) * (1 + load_rounding));
        while (examined_changes_ < max_examined_changes && return_to_owners(most)) {
        }
        return std::move(owners_);
    }

   private:
    /// A swap of two tasks, or the move of one task if `incoming` is `nothing`.
    struct Change {
        double most = 0;  // the larger of the two ranks' loads and the limit
        std::int64_t more_bytes = 0;
        std::size_t outgoing = nothing, incoming = nothing;
        Rank to{0};

        [[nodiscard]] bool is_better_than(const Change& other) const {
            return std::tie(most, more_bytes) < std::tie(other.most, other.more_bytes);
        }
    };

    [[nodiscard]] std::int64_t size(std::size_t task) const {
        return tasks_.bytes.empty() ? 0 : tasks_.bytes[task];
    }
    [[nodiscard]] double load(std::size_t task) const { return task == nothing ? 0 : tasks_.loads[task]; }
    /// Additional moved bytes if the task moves to this rank.
    [[nodiscard]] std::int64_t additional_bytes(std::size_t task, Rank to) const {
        if (task == nothing) return 0;
        const Rank home = tasks_.owners[task];
        return (to == home ? 0 : size(task)) - (owners_[task] == home ? 0 : size(task));
    }
    [[nodiscard]] bool fits(Rank from, Rank to, std::size_t outgoing, std::size_t incoming) const {
        const std::int64_t more = size(outgoing) - (incoming == nothing ? 0 : size(incoming));
        return more <= tasks_.memory - bytes_[to.value] && -more <= tasks_.memory - bytes_[from.value];
    }
    [[nodiscard]] Change evaluate_change(Rank from, Rank to, std::size_t outgoing,
                                         std::size_t incoming) const {
        const double more = load(outgoing) - load(incoming);
        return {std::max({limit_, load_[from.value] - more, load_[to.value] + more}),
                additional_bytes(outgoing, to) + additional_bytes(incoming, from), outgoing, incoming, to};
    }

    void assign_task(std::size_t task, Rank to) {
        if (task == nothing) return;
        const Rank from = owners_[task];
        std::erase(tasks_of_rank_[from.value], task);
        std::vector<std::size_t>& list = tasks_of_rank_[to.value];
        list.insert(
            std::ranges::upper_bound(list, load(task), {}, [&](std::size_t other) { return load(other); }),
            task);
        load_[from.value] -= load(task);
        load_[to.value] += load(task);
        bytes_[from.value] -= size(task);
        bytes_[to.value] += size(task);
        owners_[task] = to;
    }
    void apply_change(const Change& change, Rank from) {
        assign_task(change.outgoing, change.to);
        assign_task(change.incoming, from);
    }

    bool lower_busiest() {
        const Rank from{static_cast<std::uint32_t>(std::ranges::max_element(load_) - load_.begin())};
        const double now = load_[from.value];
        if (now <= limit_) return false;
        if (tasks_.poll) tasks_.poll();
        Change best{now * (1 - load_rounding)};
        const auto consider = [&](const Change& change) {
            if (change.is_better_than(best) && fits(from, change.to, change.outgoing, change.incoming))
                best = change;
        };
        for (const Rank to : ids<Rank>(tasks_.ranks)) {
            if (to == from) continue;
            const std::vector<std::size_t>& list = tasks_of_rank_[to.value];
            examined_changes_ += static_cast<std::int64_t>(tasks_of_rank_[from.value].size());
            for (const std::size_t outgoing : tasks_of_rank_[from.value]) {
                consider(evaluate_change(from, to, outgoing, nothing));
                // Consider swaps with the task that best balances both ranks, and with its predecessor.
                const double wanted = load(outgoing) - (now - load_[to.value]) / 2;
                auto at = std::ranges::lower_bound(list, wanted, {},
                                                   [&](std::size_t other) { return load(other); });
                if (at != list.end()) consider(evaluate_change(from, to, outgoing, *at));
                if (at != list.begin()) consider(evaluate_change(from, to, outgoing, *--at));
            }
        }
        if (best.outgoing == nothing) return false;
        apply_change(best, from);
        return true;
    }

    /// Returns tasks to their owners, largest first; returns whether any task has moved.
    bool return_to_owners(double most) {
        std::vector<std::size_t> away;
        for (std::size_t task = 0; task < owners_.size(); ++task)
            if (owners_[task] != tasks_.owners[task] && size(task) > 0) away.push_back(task);
        std::ranges::stable_sort(away, std::greater{}, [&](std::size_t task) { return size(task); });
        bool moved = false;
        for (const std::size_t task : away) {
            const Rank from = owners_[task], home = tasks_.owners[task];
            if (from == home) continue;
            Change best;
            best.most = most;
            const auto consider = [&](std::size_t incoming) {
                Change change = evaluate_change(from, home, task, incoming);
                if (change.most > most || change.more_bytes >= 0 || !fits(from, home, task, incoming)) return;
                change.most = most;
                if (change.is_better_than(best)) best = change;
            };
            consider(nothing);
            for (const std::size_t incoming : tasks_of_rank_[home.value]) consider(incoming);
            examined_changes_ += static_cast<std::int64_t>(tasks_of_rank_[home.value].size());
            if (best.outgoing == nothing) continue;
            apply_change(best, from);
            moved = true;
        }
        return moved;
    }

    const Tasks& tasks_;
    std::vector<Rank> owners_;
    std::vector<std::vector<std::size_t>> tasks_of_rank_;  // lightest task first
    std::vector<double> load_;
    std::vector<std::int64_t> bytes_;
    double limit_;
    std::int64_t examined_changes_ = 0;
};

}  // namespace

std::vector<Rank> improve_owners(const Tasks& tasks, std::vector<Rank> owners) {
    return OwnerImprovement(tasks, std::move(owners)).run();
}

}  // namespace topoloom
