// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/improve_owners.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace topoloom {

namespace {

constexpr std::int64_t max_looks = 10'000'000;
constexpr std::size_t nothing = static_cast<std::size_t>(-1);

class OwnerImprovement {
   public:
    OwnerImprovement(const Tasks& tasks, std::vector<Rank> owners)
        : tasks_(tasks),
          owners_(std::move(owners)),
          held_(tasks.ranks),
          load_(loads_of_ranks(tasks, owners_)),
          bytes_(tasks.ranks, 0),
          limit_(load_limit(tasks)) {
        for (std::size_t task = 0; task < owners_.size(); ++task) {
            held_[owners_[task].value].push_back(task);
            bytes_[owners_[task].value] += size(task);
        }
        for (std::vector<std::size_t>& list : held_)
            std::ranges::stable_sort(list, {}, [&](std::size_t task) { return tasks.loads[task]; });
    }

    std::vector<Rank> run() {
        while (looks_ < max_looks && lower_busiest()) {
        }
        const double most = std::max(limit_, std::ranges::max(load_) * (1 + load_rounding));
        while (looks_ < max_looks && bring_home(most)) {
        }
        return std::move(owners_);
    }

   private:
    /// A move of a task, or a swap unless `comes` is `nothing`.
    struct Change {
        double most = 0;  // larger load of the two ranks, at least the limit
        std::int64_t more_bytes = 0;
        std::size_t goes = nothing, comes = nothing;
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
    [[nodiscard]] std::int64_t price(std::size_t task, Rank to) const {
        if (task == nothing) return 0;
        const Rank home = tasks_.owners[task];
        return (to == home ? 0 : size(task)) - (owners_[task] == home ? 0 : size(task));
    }
    [[nodiscard]] bool fits(Rank from, Rank to, std::size_t goes, std::size_t comes) const {
        const std::int64_t more = size(goes) - (comes == nothing ? 0 : size(comes));
        return more <= tasks_.memory - bytes_[to.value] && -more <= tasks_.memory - bytes_[from.value];
    }
    [[nodiscard]] Change changed(Rank from, Rank to, std::size_t goes, std::size_t comes) const {
        const double more = load(goes) - load(comes);
        return {std::max({limit_, load_[from.value] - more, load_[to.value] + more}),
                price(goes, to) + price(comes, from), goes, comes, to};
    }

    void put(std::size_t task, Rank to) {
        if (task == nothing) return;
        const Rank from = owners_[task];
        std::erase(held_[from.value], task);
        std::vector<std::size_t>& list = held_[to.value];
        list.insert(
            std::ranges::upper_bound(list, load(task), {}, [&](std::size_t other) { return load(other); }),
            task);
        load_[from.value] -= load(task);
        load_[to.value] += load(task);
        bytes_[from.value] -= size(task);
        bytes_[to.value] += size(task);
        owners_[task] = to;
    }
    void carry_out(const Change& change, Rank from) {
        put(change.goes, change.to);
        put(change.comes, from);
    }

    bool lower_busiest() {
        const Rank from{static_cast<std::uint32_t>(std::ranges::max_element(load_) - load_.begin())};
        const double now = load_[from.value];
        if (now <= limit_) return false;
        if (tasks_.poll) tasks_.poll();
        Change best{now * (1 - load_rounding)};
        const auto consider = [&](const Change& change) {
            if (change.is_better_than(best) && fits(from, change.to, change.goes, change.comes))
                best = change;
        };
        for (const Rank to : ids<Rank>(tasks_.ranks)) {
            if (to == from) continue;
            const std::vector<std::size_t>& list = held_[to.value];
            looks_ += static_cast<std::int64_t>(held_[from.value].size());
            for (const std::size_t goes : held_[from.value]) {
                consider(changed(from, to, goes, nothing));
                // The candidate that best balances both ranks, and its predecessor.
                const double wanted = load(goes) - (now - load_[to.value]) / 2;
                auto at = std::ranges::lower_bound(list, wanted, {},
                                                   [&](std::size_t other) { return load(other); });
                if (at != list.end()) consider(changed(from, to, goes, *at));
                if (at != list.begin()) consider(changed(from, to, goes, *--at));
            }
        }
        if (best.goes == nothing) return false;
        carry_out(best, from);
        return true;
    }

    /// Returns tasks to their owners, largest first; returns whether any task has moved.
    bool bring_home(double most) {
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
            const auto consider = [&](std::size_t comes) {
                Change change = changed(from, home, task, comes);
                if (change.most > most || change.more_bytes >= 0 || !fits(from, home, task, comes)) return;
                change.most = most;
                if (change.is_better_than(best)) best = change;
            };
            consider(nothing);
            for (const std::size_t comes : held_[home.value]) consider(comes);
            looks_ += static_cast<std::int64_t>(held_[home.value].size());
            if (best.goes == nothing) continue;
            carry_out(best, from);
            moved = true;
        }
        return moved;
    }

    const Tasks& tasks_;
    std::vector<Rank> owners_;
    std::vector<std::vector<std::size_t>> held_;  // lightest task first
    std::vector<double> load_;
    std::vector<std::int64_t> bytes_;
    double limit_;
    std::int64_t looks_ = 0;
};

}  // namespace

std::vector<Rank> improve_owners(const Tasks& tasks, std::vector<Rank> owners) {
    return OwnerImprovement(tasks, std::move(owners)).run();
}

}  // namespace topoloom
