// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/exact/branch_and_bound.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/qap/exact/placement_search.hpp"

namespace topoloom::qap {

namespace {

double estimate_cost_memory(std::size_t ranks, std::size_t slots) {
    return 2 * std::pow(static_cast<double>(ranks) * static_cast<double>(slots), 2);
}

/// Searches subtrees in parallel, but with the same result and work as a serial search, in which each subtree
/// starts from the best placement of all previous subtrees. Threads search later subtrees speculatively from
/// the current best placement. If an earlier subtree finds a better placement, the later searches are
/// repeated.
class ParallelSearch {
   public:
    ParallelSearch(const SearchContext& context, Incumbent start, Meter& meter, int threads)
        : context_(context), best_(std::move(start)), meter_(meter), threads_(threads) {}

    ExactResult run() {
        divide_into_subtrees();
        std::size_t next = 0;
        while (next < subtrees_.size()) next = search_from(next);
        return {best_.position_of_rank, best_.value, std::min(best_.value, open_), nodes_};
    }

   private:
    struct Outcome {
        Incumbent best;
        std::int64_t open;
        std::uint64_t nodes;
        std::uint64_t work;
        std::uint64_t max_work;  // work limit of the search
    };

    /// Divides the root into enough subtrees for all threads, if memory permits.
    void divide_into_subtrees() {
        constexpr std::size_t enough = 64;
        constexpr double max_bytes = 1e9;
        subtrees_.push_back(context_.root());
        const double bytes = estimate_cost_memory(subtrees_.front().ranks.size(), context_.problem.slots);
        while (!subtrees_.empty() && subtrees_.size() < enough && subtrees_.front().ranks.size() > 1 &&
               static_cast<double>(subtrees_.size() * context_.problem.slots) * bytes < max_bytes) {
            std::vector<PartialPlacement> deeper;
            PlacementSearch search(context_, best_, meter_);
            for (PartialPlacement& partial : subtrees_) {
                for (const Branch& branch : search.expand(partial))
                    deeper.push_back(PlacementSearch::apply_branch(partial, branch));
            }
            subtrees_ = std::move(deeper);
            add_outcome({search.best(), search.open_bound(), search.visited_count(), 0, 0});
        }
        std::ranges::stable_sort(subtrees_, {}, [](const PartialPlacement& p) { return p.costs.bound(); });
    }

    /// Searches subtree `next` and all later subtrees. Returns the first one that must be searched again.
    std::size_t search_from(std::size_t next) {
        outcomes_.assign(subtrees_.size(), std::nullopt);
        last_ = subtrees_.size() - 1;
        stopped_ = !meter_.poll();
        const Budget rest = meter_.remaining();
        parallel_for(subtrees_.size() - next, threads_,
                     [&](std::size_t k, int worker) { search_subtree(next + k, worker, rest); });
        std::size_t i = next;
        for (; i <= last_ && outcomes_[i]; ++i) {
            const std::uint64_t left = meter_.remaining().work;
            if (outcomes_[i]->work > left && outcomes_[i]->max_work > left) return i;
            add_outcome(*outcomes_[i]);
            meter_.spend(outcomes_[i]->work);
        }
        if (meter_.poll()) return i;
        for (; i < subtrees_.size(); ++i) {
            // The search was stopped by the time limit or the caller.
            if (outcomes_[i] && meter_.remaining().work > 0) {
                add_outcome(*outcomes_[i]);
            } else {
                open_ = std::min(open_, context_.scale.up(subtrees_[i].costs.bound()));
            }
        }
        return i;
    }

    void search_subtree(std::size_t i, int worker, const Budget& rest) {
        std::uint64_t left = rest.work;
        {
            const std::lock_guard hold(lock_);
            for (std::size_t before = 0; before < i; ++before)
                left -= outcomes_[before] ? std::min(left, outcomes_[before]->work) : 0;
        }
        // Only the calling thread polls the caller's meter.
        const Budget budget{
            .work = left, .seconds = rest.seconds, .keep_going = [this, i, worker](std::uint64_t) {
                if (worker == 0 && !meter_.poll()) stopped_ = true;
                return !stopped_ && i <= last_;
            }};
        if (left == 0 || stopped_ || i > last_) return;
        Meter meter(budget);
        PartialPlacement subtree = subtrees_[i];
        PlacementSearch search(context_, best_, meter);
        search.search_below(subtree);
        const std::lock_guard hold(lock_);
        outcomes_[i] = {search.best(), search.open_bound(), search.visited_count(), meter.work_done(), left};
        if (search.best().value < best_.value) last_ = std::min<std::size_t>(last_, i);
    }

    void add_outcome(const Outcome& outcome) {
        if (outcome.best.value < best_.value) best_ = outcome.best;
        open_ = std::min(open_, outcome.open);
        nodes_ += outcome.nodes;
    }

    const SearchContext& context_;
    Incumbent best_;
    Meter& meter_;
    int threads_;
    std::vector<PartialPlacement> subtrees_;
    std::mutex lock_;
    std::vector<std::optional<Outcome>> outcomes_;
    std::atomic<std::size_t> last_ = 0;  // last subtree whose search starts from the current best placement
    std::atomic<bool> stopped_ = false;
    std::int64_t open_ = std::numeric_limits<std::int64_t>::max();
    std::uint64_t nodes_ = 0;
};

}  // namespace

ExactResult branch_and_bound(const QuadraticAssignment& problem, std::span<const Position> start,
                             Meter& meter, int threads) {
    if (start.size() != problem.ranks)
        fail("the initial placement has ", start.size(), " ranks, but the problem has ", problem.ranks);
    std::vector<char> taken(problem.slots, 0);
    for (const Position slot : start) {
        if (slot.value >= problem.slots || std::exchange(taken[slot.value], 1))
            fail("the initial placement uses slot ", slot.value, " twice, or there are only ", problem.slots);
    }
    const Incumbent best{problem.value(start), {start.begin(), start.end()}};
    const SearchContext context(problem, best.value);
    return ParallelSearch(context, best, meter, threads).run();
}

double branch_and_bound_bytes(std::size_t ranks, std::size_t slots) {
    return estimate_cost_memory(ranks, slots) * (1 + static_cast<double>(ranks) / 4);
}

}  // namespace topoloom::qap
