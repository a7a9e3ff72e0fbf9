// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/links/congestion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/links/local_opt.hpp"
#include "topoloom/place/local/cooling.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/keep_better.hpp"

namespace topoloom::links {

namespace {

class CongestionAnnealing {
   public:
    CongestionAnnealing(LoadTracker& loads, const Allocation& allocation, const NearLists& near, Rng rng)
        : loads_(loads),
          slots_(allocation.slots()),
          near_(near),
          rank_on_(slots_.size(), Rank::none),
          rng_(rng) {
        std::vector<Position> position(allocation.machine().slot_count());
        for (std::size_t i = 0; i < slots_.size(); ++i) position[slots_[i].value] = Position{i};
        for (const Rank u : ids<Rank>(loads.rank_count())) {
            at_.push_back(position[loads.slot(u).value]);
            rank_on_[at_.back().value] = u;
        }
        record_best();
    }
    [[nodiscard]] const std::vector<Slot>& best() const { return best_; }

    void run(Meter& meter, std::uint32_t sweeps) {
        // Temperatures relative to the soft value of one busiest link; tuned on meshes and collectives on
        // fragments of tori.
        const local::Cooling cooling{0.3 * soft_unit, 0.01 * soft_unit};
        constexpr double share_for_cooling = 0.9;  // of a budget
        const double share_at_start = meter.used_share();
        for (std::uint32_t sweep = 0; sweep < sweeps && meter.poll_clock(); ++sweep) {
            if (loads_.key().links_at_maximum == 0) return;
            loads_.set_soft_scale();
            const double share =
                (meter.used_share() - share_at_start) / (share_for_cooling * (1 - share_at_start));
            const double progress = std::max(share, static_cast<double>(sweep) / sweeps);
            if (progress >= 1) return;
            const std::uint32_t reach = reach_at_progress(progress);
            for (const Rank u : ids<Rank>(at_.size())) {
                propose(u, reach, cooling.at(progress));
                // On large machines, one sweep can exceed the budget.
                if (u.value % 64 == 0 && !meter.poll_clock()) break;
            }
            meter.spend(at_.size() + near_.take_work());
            if (loads_.key() < best_key_) record_best();
        }
    }

   private:
    /// Number of nearest slots from which to choose. It shrinks as the temperature falls, because cold
    /// searches accept only short moves.
    [[nodiscard]] std::uint32_t reach_at_progress(double progress) const {
        constexpr double last = 6;
        const double all = std::max(last, static_cast<double>(slots_.size()));
        return static_cast<std::uint32_t>(all * std::pow(last / all, progress));
    }
    [[nodiscard]] Position draw_slot(Position from, std::uint32_t reach) {
        if (reach <= near_.count()) return near_.list_at(from)[rng_.below(reach)];
        return Position{rng_.below(static_cast<std::uint32_t>(slots_.size()))};
    }
    /// Proposes another slot for u; moves u there if the Metropolis rule accepts this.
    void propose(Rank u, std::uint32_t reach, double temperature) {
        const Position from = at_[u.value];
        const Position to = draw_slot(from, reach);
        if (to == from) return;
        const double loss = -temperature * std::log(1 - rng_.uniform());
        const std::int64_t most = loads_.soft_value() + static_cast<std::int64_t>(loss);
        const SoftLimit limit{.nearer = most, .farther = most};
        const Rank v = rank_on_[to.value];
        if (v == Rank::none ? loads_.move_if_soft_at_most(u, slots_[to.value], limit)
                            : loads_.exchange_if_soft_at_most(u, v, limit)) {
            std::swap(rank_on_[from.value], rank_on_[to.value]);
            at_[u.value] = to;
            if (v != Rank::none) at_[v.value] = from;
        }
    }
    void record_best() {
        best_key_ = loads_.key();
        best_ = loads_.slots();
    }

    LoadTracker& loads_;
    std::span<const Slot> slots_;
    const NearLists& near_;
    std::vector<Rank> rank_on_;  // by position in the allocation: the rank on it
    std::vector<Position> at_;   // by rank
    Rng rng_;
    CongestionKey best_key_;
    std::vector<Slot> best_;
};

}  // namespace

std::uint32_t annealing_sweeps(const CommGraph& graph) {
    const auto work = static_cast<double>(graph.rank_count() + graph.edge_count());
    const double fewest = graph.rank_count() > max_ranks_in_parallel ? 30 : 60;
    return static_cast<std::uint32_t>(std::clamp(1.2e6 / work, fewest, 1e4));
}

Placement anneal_links(const Problem& problem, Placement start, Meter& meter,
                       const CongestionOptions& options) {
    if (!charge_link_loads(meter, problem)) return start;
    constexpr std::uint32_t nearest = 256;
    const Allocation& allocation = problem.allocation();
    const std::uint32_t sweeps = options.sweeps > 0 ? options.sweeps : annealing_sweeps(problem.graph());
    const PhasedObjective objective = problem.link_objective();
    return keep_better(problem, std::move(start), [&](const Placement& from) {
        const NearLists near(allocation, nearest);
        const std::unique_ptr<LoadTracker> loads =
            make_search_tracker(problem.machine(), objective, from.slots());
        CongestionAnnealing annealing(*loads, allocation, near, Rng(problem.seed()));
        annealing.run(meter, sweeps);
        return Placement(allocation, annealing.best());
    });
}

Placement improve_congestion(const Problem& problem, Placement start, Meter& meter,
                             const CongestionOptions& options) {
    constexpr std::size_t few = 1000;
    if (problem.rank_count() <= few) {
        start = improve_by_local_opt(problem, std::move(start), meter);
        start = anneal_links(problem, std::move(start), meter, options);
        return improve_by_local_opt(problem, std::move(start), meter);
    }
    start = anneal_links(problem, std::move(start), meter, options);
    // Limits local-opt: descending from plateau to plateau could take minutes and would gain little.
    constexpr std::uint64_t partners = 64;
    Budget budget = meter.sub_budget(1);
    budget.work = std::min(budget.work, partners * std::min(problem.rank_count(), max_ranks_in_parallel));
    Meter limited_meter(budget);
    start = improve_by_local_opt(problem, std::move(start), limited_meter);
    meter.spend(limited_meter.work_done());
    return start;
}

MapperEntry congestion_mapper() {
    return mapper_entry<improve_congestion>(
        {.name = "congestion",
         .summary = "simulated annealing that flattens the loads of links, between two local-opts",
         .source = "Sudheer 2012, ch. 7; Connolly 1990",
         .needs = "graph, routes, time",
         .occupancy = Occupancy::alone,
         .minimizes = SearchObjective::links});
}

}  // namespace topoloom::links
