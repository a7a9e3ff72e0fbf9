// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/branch_and_bound.hpp"

#include <algorithm>
#include <atomic>
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
std::int64_t granularity(const QuadraticAssignment& p) {
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
    return std::max<std::int64_t>(1, bytes * distances);
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

class Search {
   public:
    Search(const QuadraticAssignment& problem, std::span<const std::uint32_t> start)
        : problem_(problem),
          symmetry_(problem.places, problem.distances),
          granularity_(granularity(problem)),
          best_(problem.value(start)),
          best_placement_(start.begin(), start.end()),
          scale_(best_.load(), problem.ranks) {}

    ExactResult run(Meter& meter, int threads) {
        std::vector<Partial> partials;
        partials.push_back(root());
        // Enough subtrees to share between threads.
        for (int depth = 0; depth < 2; ++depth) {
            std::vector<Partial> deeper;
            for (Partial& partial : partials) {
                const std::vector<Branch> branches = expand(partial, meter);
                for (const Branch& branch : branches) deeper.push_back(follow(partial, branch));
            }
            partials = std::move(deeper);
        }
        std::ranges::stable_sort(partials, {}, [](const Partial& p) { return p.costs.bound(); });
        std::vector<Budget> budgets(static_cast<std::size_t>(thread_count(threads)), meter.rest());
        std::vector<Meter> meters;
        for (const Budget& budget : budgets) meters.emplace_back(budget);
        parallel_for(partials.size(), threads, [&](std::size_t i, int worker) {
            // Only the calling thread may ask the caller whether to go on.
            descend(partials[i], worker == 0 ? meter : meters[static_cast<std::size_t>(worker)]);
            partials[i].costs = DualAscent(0, 0, 0);
        });
        return {best_placement_, best_, std::min(best_.load(), open_), nodes_};
    }

   private:
    Partial root() const {
        std::vector<std::uint32_t> talking;
        for (std::uint32_t i = 0; i < problem_.ranks; ++i) {
            for (std::uint32_t k = 0; k < problem_.ranks; ++k) {
                if (i == k || (problem_.bytes[i * problem_.ranks + k] == 0 &&
                               problem_.bytes[k * problem_.ranks + i] == 0))
                    continue;
                talking.push_back(i);
                break;
            }
        }
        const auto count = static_cast<std::uint32_t>(talking.size());
        Partial all{DualAscent(count, problem_.places, std::size_t{count} * count / 2),
                    talking,
                    {},
                    std::vector<std::uint32_t>(problem_.ranks, none),
                    true};
        all.places.resize(problem_.places);
        std::iota(all.places.begin(), all.places.end(), 0U);
        for (std::uint32_t i = 0; i < count; ++i) {
            for (std::uint32_t k = i + 1; k < count; ++k) {
                all.costs.add_pair(i, k, [&](std::uint32_t j, std::uint32_t l) {
                    return scale_.down(pair_cost(problem_, talking[i], talking[k], j, l));
                });
            }
        }
        return all;
    }

    /// The largest bound that a better placement can have.
    [[nodiscard]] std::int64_t limit() const {
        const std::int64_t better = best_.load(std::memory_order_relaxed) - granularity_;
        return better < 0 ? -1 : scale_.down(better);
    }

    /// Bounds what a partial placement leads to and says how it goes on: not at all where that is settled.
    std::vector<Branch> expand(Partial& partial, Meter& meter) {
        DualAscent& costs = partial.costs;
        if (costs.bound() > limit()) return {};
        if (costs.ranks() <= 1) {
            finish(partial);
            return {};
        }
        if (stopped_ || meter.exhausted()) {
            leave_open(costs.bound());
            return {};
        }
        nodes_.fetch_add(1, std::memory_order_relaxed);
        const bool first = costs.places() == problem_.places;
        const int most_sweeps = first ? 40 : 12;
        for (int i = 0; i < most_sweeps; ++i) {
            const std::int64_t before = costs.bound();
            costs.sweep();
            if (costs.bound() > limit()) return {};
            rule_out(costs);
            if (!meter.spend(std::uint64_t{costs.ranks()} * costs.places())) break;
            const std::int64_t gain = costs.bound() - before;
            if (i > 0 && costs.bound() + patience_ * gain < limit()) break;
        }
        return branches(partial);
    }

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
        const std::vector<std::uint32_t> orbit = symmetry_.orbits(fixed);
        bool some = false;
        for (std::size_t j = 0; j < partial.places.size(); ++j) {
            only[j] = orbit[partial.places[j]] == partial.places[j];
            some = some || !only[j];
        }
        return some;
    }

    static Partial follow(const Partial& partial, const Branch& branch) {
        Partial next{partial.costs.with(branch.rank, branch.place), partial.ranks, partial.places,
                     partial.place_of_rank, partial.symmetric};
        next.place_of_rank[partial.ranks[branch.rank]] = partial.places[branch.place];
        next.ranks.erase(next.ranks.begin() + branch.rank);
        next.places.erase(next.places.begin() + branch.place);
        return next;
    }

    void descend(Partial& partial, Meter& meter) {
        for (const Branch& branch : expand(partial, meter)) {
            if (branch.bound > limit()) continue;
            if (stopped_ || meter.exhausted()) {
                leave_open(branch.bound);
                continue;
            }
            Partial next = follow(partial, branch);
            descend(next, meter);
        }
    }

    void leave_open(std::int64_t bound) {
        stopped_ = true;
        const std::lock_guard hold(lock_);
        open_ = std::min(open_, scale_.up(bound));
    }

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
        const std::lock_guard hold(lock_);
        if (found->first >= best_) return;
        best_ = found->first;
        best_placement_ = std::move(found->second);
    }

    static constexpr std::int64_t patience_ = 4;  // sweeps like the last one that may still close the gap

    const QuadraticAssignment& problem_;
    PlaceSymmetry symmetry_;
    std::int64_t granularity_;
    std::mutex lock_;
    std::atomic<std::int64_t> best_;
    std::vector<std::uint32_t> best_placement_;
    CostScale scale_;
    std::int64_t open_ = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::uint64_t> nodes_{0};
    std::atomic<bool> stopped_{false};
};

}  // namespace

QuadraticAssignment::QuadraticAssignment(std::uint32_t rank_count, std::uint32_t place_count,
                                         std::vector<std::int64_t> bytes_sent,
                                         std::vector<std::int64_t> distances_between)
    : ranks(rank_count),
      places(place_count),
      bytes(std::move(bytes_sent)),
      distances(std::move(distances_between)) {
    if (ranks == 0 || ranks > places) fail("an exact search needs 1 to ", places, " ranks, not ", ranks);
    if (bytes.size() != std::size_t{ranks} * ranks || distances.size() != std::size_t{places} * places)
        fail("matrices of ", ranks, " ranks and ", places, " places have other sizes than ", bytes.size(),
             " and ", distances.size());
    const auto negative = [](std::int64_t v) { return v < 0; };
    if (std::ranges::any_of(bytes, negative) || std::ranges::any_of(distances, negative))
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
    return Search(problem, start).run(meter, threads);
}

}  // namespace topoloom
