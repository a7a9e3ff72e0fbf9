// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/local/tabu.hpp"

#include <algorithm>

#include "topoloom/base/rng.hpp"
#include "topoloom/partition/gain_heap.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/dense_qap.hpp"
#include "topoloom/place/state/migration_cost.hpp"
#include "topoloom/place/state/neighborhood.hpp"
#include "topoloom/qap/qap_solve.hpp"

namespace topoloom::local {

namespace {

/// Tabu search that keeps the best exchange of every rank in a heap. A rank that has moved is tabu for some
/// iterations.
class NearTabuSearch {
   public:
    NearTabuSearch(Arrangement& state, const Problem& problem)
        : graph_(problem.symmetric()),
          state_(state),
          moving_(problem, state.sums_both_directions() ? 2 : 1),
          home_(previous_positions(problem)),
          near_ranks_(graph_, 2, near_in_graph),
          near_slots_(problem.allocation(), near_on_machine),
          heap_(graph_.rank_count()),
          target_(graph_.rank_count()),
          ends_tenure_(max_tenure),
          is_tabu_(graph_.rank_count(), false),
          rng_(problem.seed(), 0x7AB) {}

    void run(std::uint64_t iterations, Meter& meter) {
        for (const Rank u : ids<Rank>(graph_.rank_count())) {
            if (meter.is_exhausted()) break;
            find_best_exchange(u, meter);
        }
        for (std::uint64_t i = 0; i < iterations && !meter.is_exhausted(); ++i) run_iteration(meter);
        for (; !undo_.empty(); undo_.pop_back()) move_rank(undo_.back().rank, undo_.back().position);
    }

   private:
    static constexpr std::uint32_t near_in_graph = 24;
    static constexpr std::uint32_t near_on_machine = 6;
    static constexpr std::uint32_t max_partners = 16;
    static constexpr std::uint32_t max_tenure = 64;

    struct Step {
        Rank rank;
        Position position;  // position of the rank before the step
    };

    void run_iteration(Meter& meter) {
        ++now_;
        std::vector<Rank>& tenure_ends = ends_tenure_[now_ % max_tenure];
        for (const Rank u : tenure_ends) {
            is_tabu_[u.value] = false;
            find_best_exchange(u, meter);
        }
        tenure_ends.clear();
        while (!heap_.empty() && !meter.is_exhausted()) {
            const Rank u{heap_.top().value};
            const std::int64_t gain = compute_gain(u, target_[u.value], meter);
            // Moves of ranks that are not its partners may have changed this gain.
            if (gain == heap_.top_gain() && is_allowed(u, target_[u.value], gain)) {
                perform_exchange(u, target_[u.value], gain, meter);
                return;
            }
            heap_.erase(Vertex{u.value});
            find_best_exchange(u, meter);
        }
    }

    void perform_exchange(Rank u, Position to, std::int64_t gain, Meter& meter) {
        const Rank other = state_.occupant(to);
        undo_.push_back({u, state_.position(u)});
        move_rank(u, to);
        gained_ += gain;
        if (gained_ > best_gained_) {
            best_gained_ = gained_;
            undo_.clear();
        }
        make_tabu(u);
        if (other != Rank::none) make_tabu(other);
        for (const Rank v : graph_.peers(u)) find_best_exchange(v, meter);
        if (other == Rank::none) return;
        for (const Rank v : graph_.peers(other)) find_best_exchange(v, meter);
    }

    void move_rank(Rank u, Position to) {
        const Rank other = state_.occupant(to);
        if (other == Rank::none) {
            state_.move(u, to);
        } else {
            state_.exchange(u, other);
        }
    }

    void make_tabu(Rank u) {
        if (heap_.contains(Vertex{u.value})) heap_.erase(Vertex{u.value});
        if (is_tabu_[u.value]) return;  // already tabu: its tenure continues
        is_tabu_[u.value] = true;
        ends_tenure_[(now_ + 1 + rng_.below(max_tenure - 1)) % max_tenure].push_back(u);
    }

    [[nodiscard]] bool is_allowed(Rank u, Position to, std::int64_t gain) const {
        if (to == state_.position(u)) return false;
        const Rank other = state_.occupant(to);
        return other == Rank::none || !is_tabu_[other.value] || gained_ + gain > best_gained_;
    }

    [[nodiscard]] std::int64_t compute_gain(Rank u, Position to, Meter& meter) {
        meter.spend(1);
        if (to == state_.position(u)) return 0;
        const Rank other = state_.occupant(to);
        const Position from = state_.position(u);
        const std::int64_t moved = moving_.at(u, from) - moving_.at(u, to);
        if (other == Rank::none) return moved + state_.move_gain(u, to);
        return moved + moving_.at(other, to) - moving_.at(other, from) + state_.exchange_gain(u, other);
    }

    /// Finds the best exchange of a rank that is not tabu.
    void find_best_exchange(Rank u, Meter& meter) {
        meter.spend(near_slots_.take_work());
        if (is_tabu_[u.value] || state_.is_fixed(u) ||
            (graph_.degree(u) == 0 && home_[u.value] == Position::none))
            return;
        bool found = false;
        std::int64_t best = 0;
        const auto offer = [&](Position to) {
            if (meter.is_exhausted() || to == state_.position(u) || !state_.is_available(to)) return;
            const std::int64_t gain = compute_gain(u, to, meter);
            if ((found && gain <= best) || !is_allowed(u, to, gain)) return;
            found = true;
            best = gain;
            target_[u.value] = to;
        };
        if (home_[u.value] != Position::none) offer(home_[u.value]);
        for (const Rank v : near_ranks_.ranks_around(u)) offer(state_.position(v));
        const auto peers = graph_.peers(u);
        for (std::size_t i = 0; i < std::min<std::size_t>(peers.size(), max_partners); ++i) {
            for (const Position to : near_slots_.list_at(state_.position(peers[i]))) offer(to);
        }
        if (found) {
            heap_.set(Vertex{u.value}, best);
        } else if (heap_.contains(Vertex{u.value})) {
            heap_.erase(Vertex{u.value});
        }
    }

    const CommGraph& graph_;
    Arrangement& state_;
    MigrationCost moving_;
    std::vector<Position> home_;  // earlier position of each rank
    Neighborhood near_ranks_;
    NearLists near_slots_;
    partition::GainHeap heap_;                    // ranks that may move, by their greatest gain
    std::vector<Position> target_;                // best target position of each rank
    std::vector<std::vector<Rank>> ends_tenure_;  // by iteration, modulo max_tenure: ranks whose tenure ends
    std::vector<char> is_tabu_;
    std::vector<Step> undo_;  // steps since the best placement was found
    std::int64_t gained_ = 0;
    std::int64_t best_gained_ = 0;
    std::uint64_t now_ = 0;
    Rng rng_;
};

Placement search_on_all_slots(const Problem& problem, const Placement& start, Meter& meter,
                              std::uint64_t iterations) {
    qap::QapSolveOptions options;
    options.seed = problem.seed();
    options.threads = problem.threads();
    options.iterations = iterations;
    require_dense_memory("tabu", problem.allocation().slot_count(), qap::qap_searches);
    const MovablePart part(problem);
    const qap::Permutation given = assignment_of(part, start);
    if (given.size() < 2) return start;
    return placement_of(part, qap::solve_qap(dense_qap(part), given, meter, options).assignment);
}

}  // namespace

Placement improve_by_tabu(const Problem& problem, Placement start, Meter& meter, const TabuOptions& options) {
    if (meter.is_exhausted() || problem.allocation().slot_count() < 2) return start;
    if (problem.allocation().slot_count() <= options.dense)
        return search_on_all_slots(problem, start, meter,
                                   options.iterations == 0 ? 1000 : options.iterations);
    if (!charge_preparation(meter, problem)) return start;
    const Allocation& allocation = problem.allocation();
    const std::uint64_t iterations =
        options.iterations == 0 ? 10 * std::uint64_t{problem.rank_count()} : options.iterations;
    with_arrangement(problem, start.slots(), [&](Arrangement& state) {
        NearTabuSearch(state, problem).run(iterations, meter);
        start = placement_at(allocation, state.positions());
    });
    return start;
}

MapperEntry tabu_mapper() {
    return mapper_entry<improve_by_tabu>(
        {.name = "tabu",
         .summary =
             "always the best exchange that does not undo a recent one, even if it is a loss for a while",
         .source = "Taillard 1991; Benlic, Hao 2015",
         .needs = "graph, distances",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::local
