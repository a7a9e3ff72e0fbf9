// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/branch_and_bound.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/bound/placement_search.hpp"

namespace topoloom {

namespace {

double costs_bytes(std::size_t ranks, std::size_t places) {
    return 2 * std::pow(static_cast<double>(ranks) * static_cast<double>(places), 2);
}

/// Subtrees one after the other, each from the best placement of those before: that is what counts, and all that is
/// counted. Meanwhile the other threads go ahead from the best one so far; where a subtree before theirs finds a better
/// one, they begin anew.
class ParallelSearch {
   public:
    ParallelSearch(const SearchGround& ground, Incumbent start, Meter& meter, int threads)
        : ground_(ground), best_(std::move(start)), meter_(meter), threads_(threads) {}

    ExactResult run() {
        divide();
        std::size_t next = 0;
        while (next < subtrees_.size()) next = advance(next);
        return {best_.place_of_rank, best_.value, std::min(best_.value, open_), nodes_};
    }

   private:
    struct Outcome {
        Incumbent best;
        std::int64_t open;
        std::uint64_t nodes;
        std::uint64_t work;
        std::uint64_t most_work;  // that it was allowed
    };

    /// Enough subtrees to share between threads, if memory allows.
    void divide() {
        constexpr std::size_t enough = 64;
        constexpr double most_bytes = 1e9;
        subtrees_.push_back(ground_.root());
        const double bytes = costs_bytes(subtrees_.front().ranks.size(), ground_.problem.places);
        while (!subtrees_.empty() && subtrees_.size() < enough && subtrees_.front().ranks.size() > 1 &&
               static_cast<double>(subtrees_.size() * ground_.problem.places) * bytes < most_bytes) {
            std::vector<PartialPlacement> deeper;
            PlacementSearch search(ground_, best_, meter_);
            for (PartialPlacement& partial : subtrees_) {
                for (const Branch& branch : search.expand(partial))
                    deeper.push_back(PlacementSearch::follow(partial, branch));
            }
            subtrees_ = std::move(deeper);
            count({search.best(), search.open(), search.nodes(), 0, 0});
        }
        std::ranges::stable_sort(subtrees_, {}, [](const PartialPlacement& p) { return p.costs.bound(); });
    }

    /// Searches from subtree `next` on; returns the first one that is to be searched again.
    std::size_t advance(std::size_t next) {
        outcomes_.assign(subtrees_.size(), std::nullopt);
        last_ = subtrees_.size() - 1;
        stopped_ = !meter_.go_on();
        const Budget rest = meter_.rest();
        parallel_for(subtrees_.size() - next, threads_,
                     [&](std::size_t k, int worker) { search(next + k, worker, rest); });
        std::size_t i = next;
        for (; i <= last_ && outcomes_[i]; ++i) {
            const std::uint64_t left = meter_.rest().work;
            if (outcomes_[i]->work > left && outcomes_[i]->most_work > left) return i;
            count(*outcomes_[i]);
            meter_.spend(outcomes_[i]->work);
        }
        if (meter_.go_on()) return i;
        for (; i < subtrees_.size(); ++i) {
            if (outcomes_[i] && meter_.rest().work > 0) {  // the clock or the caller ended it
                count(*outcomes_[i]);
            } else {
                open_ = std::min(open_, ground_.scale.up(subtrees_[i].costs.bound()));
            }
        }
        return i;
    }

    void search(std::size_t i, int worker, const Budget& rest) {
        std::uint64_t left = rest.work;
        {
            const std::lock_guard hold(lock_);
            for (std::size_t before = 0; before < i; ++before)
                left -= outcomes_[before] ? std::min(left, outcomes_[before]->work) : 0;
        }
        // Only the calling thread may ask the caller whether to go on.
        const Budget budget{
            .work = left, .seconds = rest.seconds, .keep_going = [this, i, worker](std::uint64_t) {
                if (worker == 0 && !meter_.go_on()) stopped_ = true;
                return !stopped_ && i <= last_;
            }};
        if (left == 0 || stopped_ || i > last_) return;
        Meter meter(budget);
        PartialPlacement subtree = subtrees_[i];
        PlacementSearch search(ground_, best_, meter);
        search.descend(subtree);
        const std::lock_guard hold(lock_);
        outcomes_[i] = {search.best(), search.open(), search.nodes(), meter.done(), left};
        if (search.best().value < best_.value) last_ = std::min<std::size_t>(last_, i);
    }

    void count(const Outcome& outcome) {
        if (outcome.best.value < best_.value) best_ = outcome.best;
        open_ = std::min(open_, outcome.open);
        nodes_ += outcome.nodes;
    }

    const SearchGround& ground_;
    Incumbent best_;
    Meter& meter_;
    int threads_;
    std::vector<PartialPlacement> subtrees_;
    std::mutex lock_;
    std::vector<std::optional<Outcome>> outcomes_;
    std::atomic<std::size_t> last_ = 0;  // that begins from the best placement there is
    std::atomic<bool> stopped_ = false;
    std::int64_t open_ = std::numeric_limits<std::int64_t>::max();
    std::uint64_t nodes_ = 0;
};

}  // namespace

QuadraticAssignment::QuadraticAssignment(std::uint32_t rank_count, std::uint32_t place_count,
                                         std::vector<std::int64_t> bytes_sent,
                                         std::vector<std::int64_t> distances_between,
                                         std::vector<std::int64_t> costs_alone)
    : ranks(rank_count),
      places(place_count),
      bytes(std::move(bytes_sent)),
      distances(std::move(distances_between)),
      alone(std::move(costs_alone)) {
    if (ranks == 0 || ranks > places) fail("an exact search needs 1 to ", places, " ranks, not ", ranks);
    if (bytes.size() != std::size_t{ranks} * ranks || distances.size() != std::size_t{places} * places)
        fail("matrices of ", ranks, " ranks and ", places, " places have other sizes than ", bytes.size(),
             " and ", distances.size());
    if (!alone.empty() && alone.size() != std::size_t{ranks} * places)
        fail("costs of ", ranks, " ranks alone at ", places, " places are not ", alone.size());
    const auto negative = [](std::int64_t v) { return v < 0; };
    if (std::ranges::any_of(bytes, negative) || std::ranges::any_of(distances, negative) ||
        std::ranges::any_of(alone, negative))
        fail("an exact search needs bytes and distances that are not negative");
}

QuadraticAssignment::QuadraticAssignment(const BoundProblem& problem)
    : ranks(static_cast<std::uint32_t>(problem.rank_count())),
      places(static_cast<std::uint32_t>(problem.total_room())),
      bytes(std::size_t{ranks} * ranks, 0) {
    for (const Rank u : ids<Rank>(ranks)) {
        for (const Edge edge : problem.graph().sends(u))
            bytes[std::size_t{u.value} * ranks + edge.peer.value] = edge.bytes.value;
    }
    std::vector<Slot> slot_of_place;
    for (std::size_t s = 0; s < problem.room().size(); ++s)
        slot_of_place.insert(slot_of_place.end(), problem.room()[s], problem.allocation().slots()[s]);
    for (const Slot a : slot_of_place) {
        for (const Slot b : slot_of_place) distances.push_back(problem.machine().distance(a, b));
    }
}

std::int64_t QuadraticAssignment::value(std::span<const std::uint32_t> place_of_rank) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
        if (!alone.empty()) sum += alone[i * places + place_of_rank[i]];
        for (std::size_t k = 0; k < i; ++k) sum += pair_cost(i, k, place_of_rank[i], place_of_rank[k]);
    }
    return sum;
}

ExactResult branch_and_bound(const QuadraticAssignment& problem, std::span<const std::uint32_t> start,
                             Meter& meter, int threads) {
    if (start.size() != problem.ranks)
        fail("the placement to start from has ", start.size(), " ranks, but the problem has ", problem.ranks);
    std::vector<char> taken(problem.places, 0);
    for (const std::uint32_t place : start) {
        if (place >= problem.places || std::exchange(taken[place], 1))
            fail("the placement to start from uses place ", place, " twice, or there are only ",
                 problem.places);
    }
    const Incumbent best{problem.value(start), {start.begin(), start.end()}};
    const SearchGround ground(problem, best.value);
    return ParallelSearch(ground, best, meter, threads).run();
}

double branch_and_bound_bytes(std::size_t ranks, std::size_t places) {
    return costs_bytes(ranks, places) * (1 + static_cast<double>(ranks) / 4);
}

}  // namespace topoloom
