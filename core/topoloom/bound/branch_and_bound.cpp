// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/branch_and_bound.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/bound/dual_ascent.hpp"
#include "topoloom/bound/place_symmetry.hpp"

namespace topoloom {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Ranks i and k where one is at place j, the other at l.
std::int64_t pair_cost(const QuadraticAssignment& p, std::size_t i, std::size_t k, std::size_t j,
                       std::size_t l) {
    return p.bytes[i * p.ranks + k] * p.distances[j * p.places + l] +
           p.bytes[k * p.ranks + i] * p.distances[l * p.places + j];
}

/// What all values are multiples of.
std::int64_t common_factor(const QuadraticAssignment& p) {
    std::int64_t distances = 0;
    bool symmetric = true;
    for (std::size_t j = 0; j < p.places; ++j) {
        for (std::size_t l = 0; l < p.places; ++l) {
            if (j == l) continue;
            distances = std::gcd(distances, p.distances[j * p.places + l]);
            symmetric = symmetric && p.distances[j * p.places + l] == p.distances[l * p.places + j];
        }
    }
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < p.ranks; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const std::int64_t there = p.bytes[i * p.ranks + k];
            const std::int64_t back = p.bytes[k * p.ranks + i];
            bytes = symmetric ? std::gcd(bytes, there + back) : std::gcd(bytes, std::gcd(there, back));
        }
    }
    std::int64_t common = bytes * distances;
    for (const std::int64_t cost : p.alone) common = std::gcd(common, cost);
    return std::max<std::int64_t>(1, common);
}

/// A partial placement, and what is left to place.
struct Partial {
    DualAscent costs;
    std::vector<std::uint32_t> ranks;   // open ones, as `costs` numbers them
    std::vector<std::uint32_t> places;  // free ones
    std::vector<std::uint32_t> place_of_rank;
    bool symmetric;  // free places may be alike
};

struct Branch {
    std::uint32_t rank, place;  // as `costs` numbers them
    std::int64_t bound;
};

struct Incumbent {
    std::int64_t value;
    std::vector<std::uint32_t> place_of_rank;
};

/// What all searches have in common.
class Ground {
   public:
    Ground(const QuadraticAssignment& assignment, std::int64_t value_at_start)
        : problem(assignment),
          symmetry(assignment.places, problem.distances),
          scale(value_at_start, problem.ranks),
          granularity_(common_factor(assignment)) {}

    /// The largest bound that a better placement can have.
    [[nodiscard]] std::int64_t limit(std::int64_t best) const {
        const std::int64_t better = best - granularity_;
        return better < 0 ? -1 : scale.down(better);
    }
    [[nodiscard]] Partial root() const;

    const QuadraticAssignment& problem;
    const PlaceSymmetry symmetry;
    const CostScale scale;

   private:
    [[nodiscard]] bool talks(std::size_t i) const {
        for (std::size_t k = 0; k < problem.ranks; ++k) {
            if (i != k && problem.bytes[i * problem.ranks + k] + problem.bytes[k * problem.ranks + i] > 0)
                return true;
        }
        return !problem.alone.empty();
    }
    std::int64_t granularity_;
};

Partial Ground::root() const {
    std::vector<std::uint32_t> talking;
    for (std::uint32_t i = 0; i < problem.ranks; ++i) {
        if (talks(i)) talking.push_back(i);
    }
    const auto count = static_cast<std::uint32_t>(talking.size());
    Partial all{DualAscent(count, problem.places, std::size_t{count} * (count - 1) / 2), talking,
                std::vector<std::uint32_t>(problem.places), std::vector<std::uint32_t>(problem.ranks, none),
                problem.alone.empty()};
    std::iota(all.places.begin(), all.places.end(), 0U);
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t k = i + 1; k < count; ++k) {
            all.costs.add_pair(i, k, [&](std::uint32_t j, std::uint32_t l) {
                return scale.down(pair_cost(problem, talking[i], talking[k], j, l));
            });
        }
        for (std::uint32_t j = 0; j < problem.places && !problem.alone.empty(); ++j)
            all.costs.add_single(i, j, scale.down(problem.alone[talking[i] * problem.places + j]));
    }
    return all;
}

/// Looks for placements that are better than the best one, on one thread.
class Search {
   public:
    Search(const Ground& ground, Incumbent best, Meter& meter)
        : ground_(ground), problem_(ground.problem), best_(std::move(best)), meter_(meter) {}

    [[nodiscard]] const Incumbent& best() const { return best_; }
    /// No placement that is better and was not looked at has less.
    [[nodiscard]] std::int64_t open() const { return open_; }
    [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

    void descend(Partial& partial) {
        for (const Branch& branch : expand(partial)) {
            if (branch.bound > limit()) continue;
            if (meter_.exhausted()) {
                leave_open(branch.bound);
                continue;
            }
            Partial next = follow(partial, branch);
            descend(next);
        }
    }

    /// Bounds what a partial placement leads to and says how it goes on: not at all where that is settled.
    std::vector<Branch> expand(Partial& partial) {
        DualAscent& costs = partial.costs;
        if (costs.bound() > limit()) return {};
        if (costs.ranks() <= 1) {
            finish(partial);
            return {};
        }
        if (meter_.exhausted()) {
            leave_open(costs.bound());
            return {};
        }
        ++nodes_;
        // What the first ones gain, all that follow inherit.
        const std::uint32_t depth = problem_.places - costs.places();
        const std::int64_t patience = std::max<std::int64_t>(3, depth < 8 ? 200 >> depth : 0);
        constexpr int most_sweeps = 100;
        for (int i = 0; i < most_sweeps; ++i) {
            const std::int64_t before = costs.bound();
            costs.sweep();
            if (costs.bound() > limit()) return {};
            rule_out(costs);
            if (!meter_.spend(std::uint64_t{costs.ranks()} * costs.places())) break;
            const std::int64_t gain = costs.bound() - before;
            if (i > 0 && costs.bound() + patience * gain < limit()) break;
        }
        return branches(partial);
    }

    static Partial follow(const Partial& partial, const Branch& branch) {
        Partial next{partial.costs.with(branch.rank, branch.place), partial.ranks, partial.places,
                     partial.place_of_rank, partial.symmetric};
        next.place_of_rank[partial.ranks[branch.rank]] = partial.places[branch.place];
        next.ranks.erase(next.ranks.begin() + branch.rank);
        next.places.erase(next.places.begin() + branch.place);
        return next;
    }

   private:
    [[nodiscard]] std::int64_t limit() const { return ground_.limit(best_.value); }

    void rule_out(DualAscent& costs) const {
        const std::int64_t most = limit() - costs.bound();
        for (std::uint32_t i = 0; i < costs.ranks(); ++i) {
            for (std::uint32_t j = 0; j < costs.places(); ++j) {
                if (costs.single(i, j) > most) costs.rule_out(i, j);
            }
        }
    }

    /// All places for the rank, or all ranks for the place, that leave the least.
    std::vector<Branch> branches(Partial& partial) const {
        DualAscent& costs = partial.costs;
        const std::uint32_t ranks = costs.ranks();
        const std::uint32_t places = costs.places();
        std::vector<char> only(places, 1);
        if (partial.symmetric) partial.symmetric = mark_representatives(partial, only);
        const std::int64_t most = limit();
        std::vector<std::int64_t> bound(std::size_t{ranks} * places, most + 1);
        for (std::uint32_t i = 0; i < ranks; ++i) {
            for (std::uint32_t j = 0; j < places; ++j) {
                if (!only[j] || costs.bound() + costs.single(i, j) > most) continue;
                bound[i * places + j] = costs.bound_with(i, j);
                if (bound[i * places + j] > most && !partial.symmetric) costs.rule_out(i, j);
            }
        }
        // The smaller the more is settled by its branches.
        const auto open = [&](std::uint32_t start, std::uint32_t step, std::uint32_t count) {
            std::int64_t sum = 0;
            for (std::uint32_t k = 0; k < count; ++k)
                sum += std::max<std::int64_t>(0, most + 1 - bound[start + k * step]);
            return sum;
        };
        std::uint32_t rank = 0;
        std::uint32_t place = none;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t i = 0; i < ranks; ++i) {
            if (const std::int64_t left = open(i * places, 1, places); left < least) {
                least = left;
                rank = i;
            }
        }
        if (ranks == places && !partial.symmetric) {
            for (std::uint32_t j = 0; j < places; ++j) {
                if (const std::int64_t left = open(j, places, ranks); left < least) {
                    least = left;
                    place = j;
                }
            }
        }
        std::vector<Branch> found;
        const auto add = [&](std::uint32_t i, std::uint32_t j) {
            if (bound[i * places + j] <= most) found.push_back({i, j, bound[i * places + j]});
        };
        if (place == none) {
            for (std::uint32_t j = 0; j < places; ++j) add(rank, j);
        } else {
            for (std::uint32_t i = 0; i < ranks; ++i) add(i, place);
        }
        std::ranges::stable_sort(found, {}, &Branch::bound);
        return found;
    }

    /// Of free places that are alike, the first one; false if none are.
    bool mark_representatives(const Partial& partial, std::vector<char>& only) const {
        std::vector<char> is_free(problem_.places, 0);
        for (const std::uint32_t place : partial.places) is_free[place] = 1;
        std::vector<std::uint32_t> fixed;
        for (std::uint32_t place = 0; place < problem_.places; ++place) {
            if (!is_free[place]) fixed.push_back(place);
        }
        const std::vector<std::uint32_t> orbit = ground_.symmetry.orbits(fixed);
        bool some = false;
        for (std::size_t j = 0; j < partial.places.size(); ++j) {
            only[j] = orbit[partial.places[j]] == partial.places[j];
            some = some || !only[j];
        }
        return some;
    }

    void leave_open(std::int64_t bound) { open_ = std::min(open_, ground_.scale.up(bound)); }

    /// The last rank that talks to others goes where it is best, the silent ones where there is room.
    void finish(const Partial& partial) {
        std::vector<std::uint32_t> placement = partial.place_of_rank;
        std::vector<std::uint32_t> free_places = partial.places;
        std::optional<std::pair<std::int64_t, std::vector<std::uint32_t>>> found;
        const auto fill = [&] {
            std::vector<std::uint32_t> full = placement;
            std::vector<char> taken(problem_.places, 0);
            for (const std::uint32_t place : full) {
                if (place != none) taken[place] = 1;
            }
            std::uint32_t next = 0;
            for (std::uint32_t& place : full) {
                if (place != none) continue;
                while (taken[next]) ++next;
                place = next++;
            }
            const std::int64_t value = problem_.value(full);
            if (!found || value < found->first) found = {value, std::move(full)};
        };
        if (partial.ranks.empty()) fill();
        for (const std::uint32_t place : free_places) {
            if (partial.ranks.empty()) break;
            placement[partial.ranks.front()] = place;
            fill();
        }
        if (found->first < best_.value) best_ = {found->first, std::move(found->second)};
    }

    const Ground& ground_;
    const QuadraticAssignment& problem_;
    Incumbent best_;
    Meter& meter_;
    std::int64_t open_ = std::numeric_limits<std::int64_t>::max();
    std::uint64_t nodes_ = 0;
};

double costs_bytes(std::size_t ranks, std::size_t places) {
    return 2 * std::pow(static_cast<double>(ranks) * static_cast<double>(places), 2);
}

/// Subtrees one after the other, each from the best placement of those before: that is what counts, and all that is
/// counted. Meanwhile the other threads go ahead from the best one so far; where a subtree before theirs finds a better
/// one, they begin anew.
class ParallelSearch {
   public:
    ParallelSearch(const Ground& ground, Incumbent start, Meter& meter, int threads)
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
            std::vector<Partial> deeper;
            Search search(ground_, best_, meter_);
            for (Partial& partial : subtrees_) {
                for (const Branch& branch : search.expand(partial))
                    deeper.push_back(Search::follow(partial, branch));
            }
            subtrees_ = std::move(deeper);
            count({search.best(), search.open(), search.nodes(), 0, 0});
        }
        std::ranges::stable_sort(subtrees_, {}, [](const Partial& p) { return p.costs.bound(); });
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
            if (stopped_ && outcomes_[i]) {
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
        Partial subtree = subtrees_[i];
        Search search(ground_, best_, meter);
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

    const Ground& ground_;
    Incumbent best_;
    Meter& meter_;
    int threads_;
    std::vector<Partial> subtrees_;
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
        for (std::size_t k = 0; k < i; ++k) sum += pair_cost(*this, i, k, place_of_rank[i], place_of_rank[k]);
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
    const Ground ground(problem, best.value);
    return ParallelSearch(ground, best, meter, threads).run();
}

double branch_and_bound_bytes(std::size_t ranks, std::size_t places) {
    return costs_bytes(ranks, places) * (1 + static_cast<double>(ranks) / 4);
}

}  // namespace topoloom
