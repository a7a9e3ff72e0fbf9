// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/local/anneal.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/place/entry.hpp"
#include "topoloom/place/local/anneal_walker.hpp"
#include "topoloom/place/local/cooling.hpp"
#include "topoloom/place/local/region_anneal.hpp"
#include "topoloom/place/local/swap.hpp"
#include "topoloom/place/side_by_side.hpp"
#include "topoloom/place/state/fast_space.hpp"
#include "topoloom/place/state/near_slots.hpp"
#include "topoloom/place/state/packed_graph.hpp"
#include "topoloom/place/state/positions_along.hpp"

namespace topoloom::local {

namespace {

/// Ranks renumbered in the order of their slots along the machine, so that those near each other are near in memory;
/// those without partners come last.
struct Numbering {
    std::vector<Rank> order;                 // the rank with a new number
    std::vector<Position> position_of_rank;  // at the start, by new number
    std::uint32_t active = 0;                // ranks with partners
};

Numbering number_along_machine(const Problem& problem, const Placement& start) {
    const std::vector<Position> along = positions_along(Curve::hilbert, problem.allocation());
    std::vector<std::uint32_t> index(along.size());
    for (std::uint32_t i = 0; i < along.size(); ++i) index[along[i].value] = i;
    const std::vector<Position> positions = positions_of(problem.allocation(), start.slots());
    const auto alone = [&](Rank u) {
        return std::ranges::none_of(problem.symmetric().bytes(u), [](Bytes b) { return b.value > 0; });
    };
    std::vector<std::pair<bool, std::uint32_t>> keys;
    Numbering numbering;
    for (const Rank u : ids<Rank>(positions.size())) {
        numbering.order.push_back(u);
        keys.emplace_back(alone(u), index[positions[u.value].value]);
        if (!keys.back().first) ++numbering.active;
    }
    std::ranges::sort(numbering.order, {}, [&](Rank u) { return keys[u.value]; });
    for (const Rank u : numbering.order) numbering.position_of_rank.push_back(positions[u.value]);
    return numbering;
}

/// Chains that cool side by side, in rounds of this number of proposals each, so that neither threads nor the clock
/// decide what becomes of them.
template <class Space, class Graph>
class Annealing {
   public:
    Annealing(const Arrangement<Space, Graph>& start, const Graph& graph, const NearSlots& near,
              std::uint32_t active, const Problem& problem, const AnnealOptions& options)
        : problem_(problem), options_(options), active_(active) {
        for (std::uint32_t i = 0; i < options.chains; ++i)
            chains_.emplace_back(start, graph, near, active, Rng(problem.seed(), i));
    }

    std::vector<Position> run(Meter& meter) {
        if (options_.heat > 0) cool(calibrate(meter), meter);
        freeze(meter);
        return std::ranges::min_element(chains_, {}, &Walker::best_value)->best();
    }

   private:
    using Walker = AnnealWalker<Space, NearSlots, Graph>;
    static constexpr std::uint64_t max_per_round = 1U << 17;  // proposals of a chain: some 10 ms
    static constexpr std::uint64_t min_per_step = 1U << 10;   // between two temperatures
    static constexpr std::uint64_t sweeps_without_budget = 100;
    /// Of a budget; the rest is for what comes after cooling.
    static constexpr double share_for_cooling = 0.95;

    Cooling calibrate(Meter& meter) {
        constexpr std::uint64_t samples = 2000;
        const std::vector<std::int64_t> losses = chains_.front().sample_losses(samples);
        meter.spend(samples);
        return Cooling::from_losses(losses, options_.heat);
    }

    void cool(const Cooling& cooling, Meter& meter) {
        const bool fit = options_.sweeps == 0 && meter.limited();
        const double share_at_start = meter.share();
        const std::uint64_t total =
            (options_.sweeps == 0 ? sweeps_without_budget : options_.sweeps) * active_;
        const auto progress_after = [&](std::uint64_t done) {
            return fit ? (meter.share() - share_at_start) / (share_for_cooling * (1 - share_at_start))
                       : static_cast<double>(done) / static_cast<double>(total);
        };
        std::uint64_t done = 0;
        double progress = 0;
        double before = 0;
        while (progress < 1 && !meter.exhausted()) {
            // The first round is a short one, since it shows how fast progress is.
            const std::uint64_t round =
                fit ? max_per_round / (done == 0 ? 16 : 1) : std::min(max_per_round, total - done);
            const double next = fit ? progress + (progress - before) : progress_after(done + round);
            each_chain(round, meter, [&](Walker& chain) { cool(chain, round, cooling, progress, next); });
            done += round;
            before = progress;
            progress = progress_after(done);
        }
    }

    void cool(Walker& chain, std::uint64_t round, const Cooling& cooling, double from, double to) const {
        const std::uint64_t steps =
            std::max<std::uint64_t>(1, round / std::max<std::uint64_t>(min_per_step, active_ / 2));
        for (std::uint64_t i = 0; i < steps; ++i) {
            const double at = from + (to - from) * static_cast<double>(i) / static_cast<double>(steps);
            chain.run(round * (i + 1) / steps - round * i / steps, Acceptance(cooling.at(at)));
        }
    }

    /// Temperature 0 until a round gains nothing.
    void freeze(Meter& meter) {
        const std::uint64_t round = std::min<std::uint64_t>(max_per_round, 4 * std::uint64_t{active_});
        const auto sum = [&] {
            std::int64_t values = 0;
            for (const Walker& chain : chains_) values += chain.value();
            return values;
        };
        for (std::int64_t before = sum() + 1; sum() < before && !meter.exhausted();) {
            before = sum();
            each_chain(round, meter, [&](Walker& chain) { chain.run(round, Acceptance(0)); });
        }
    }

    template <class Body>
    void each_chain(std::uint64_t proposals, Meter& meter, const Body& body) {
        parallel_for(chains_.size(), problem_.threads(), [&](std::size_t i, int) { body(chains_[i]); });
        meter.spend(proposals * chains_.size());
    }

    const Problem& problem_;
    const AnnealOptions& options_;
    std::uint32_t active_;
    std::vector<Walker> chains_;
};

}  // namespace

Placement anneal_by_regions(const Problem& problem, Placement start, Meter& meter,
                            const AnnealOptions& options, std::uint32_t region_size) {
    const bool whole = region_size == 0;
    const Allocation& allocation = problem.allocation();
    const Numbering numbering = number_along_machine(problem, start);
    if (allocation.slot_count() < 2 || numbering.active == 0 || meter.exhausted()) return start;
    constexpr std::uint32_t near_count = 24;  // on a 3-D torus all slots within two hops
    const NearSlots near(allocation, near_count, problem.threads());
    return with_fast_space(allocation, [&]<class Space>(const Space& space, const auto& slots) {
        return with_packed_graph(problem.symmetric(), numbering.order, [&]<class Graph>(const Graph& graph) {
            const auto anneal = [&] {
                if (!whole) {
                    return RegionAnnealing(space, std::span(std::as_const(slots)), graph, near, problem,
                                           numbering.active, numbering.position_of_rank, region_size)
                        .run(options, meter);
                }
                const Arrangement<Space, Graph> from(space, slots, graph, numbering.position_of_rank);
                return Annealing(from, graph, near, numbering.active, problem, options).run(meter);
            };
            const std::vector<Position> found = anneal();
            std::vector<Position> result(found.size());
            for (std::size_t i = 0; i < found.size(); ++i) result[numbering.order[i].value] = found[i];
            Placement placement = placement_at(allocation, result);
            if (!meter.exhausted()) {
                // On many ranks, or after a short search, a wider look costs more than the annealing did.
                const std::size_t ranks = problem.rank_count();
                const bool brief = options.sweeps > 0 && options.sweeps < 100;
                const bool dense = problem.symmetric().edge_count() > 4 * ranks;
                const SwapOptions last{.reach = (brief && dense) || ranks > max_ranks_side_by_side ? 1U : 3U};
                placement = improve_by_swaps(problem, std::move(placement), meter, last);
            }
            // Chains keep their best placement; regions do not know of each other.
            const bool worse = !whole && problem.value(placement.slots()) > problem.value(start.slots());
            return worse ? start : placement;
        });
    });
}

Placement improve_by_annealing(const Problem& problem, Placement start, Meter& meter,
                               const AnnealOptions& options) {
    constexpr std::uint32_t region_size = 2048;  // ranks: what fits the caches
    return anneal_by_regions(problem, std::move(start), meter, options,
                             problem.rank_count() > max_ranks_side_by_side ? region_size : 0);
}

MapperEntry anneal_mapper() {
    return mapper_entry<improve_by_annealing>(
        {.name = "anneal",
         .summary = "simulated annealing: moves ranks beside their partners, accepting ever fewer losses",
         .source = "Connolly 1990",
         .needs = "graph, distances, time",
         .serves = Serves::alone});
}

}  // namespace topoloom::local
