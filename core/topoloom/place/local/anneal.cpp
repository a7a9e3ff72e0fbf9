// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/local/anneal.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/place/local/anneal_walker.hpp"
#include "topoloom/place/local/cooling.hpp"
#include "topoloom/place/local/region_anneal.hpp"
#include "topoloom/place/local/swap.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/curve_positions.hpp"
#include "topoloom/place/state/fast_space.hpp"
#include "topoloom/place/state/packed_graph.hpp"

namespace topoloom::local {

namespace {

constexpr std::uint32_t near_count = 24;           // the number of nodes within two hops on a 3-D torus
constexpr std::uint32_t usual_region_size = 2048;  // ranks per region, sized for the caches

/// Ranks renumbered in the order of their slots along the machine, for memory locality. Ranks without partners
/// come after the active ones, and fixed ranks last.
struct RankNumbering {
    std::vector<Rank> order;                 // by new number: the old one
    std::vector<Position> position_of_rank;  // by new number: start position
    std::uint32_t active = 0;                // number of ranks with partners that are not fixed
    std::uint32_t first_fixed = 0;           // number of ranks that are not fixed
};

RankNumbering number_along_machine(const Problem& problem, const Placement& start) {
    const std::vector<Position> along = curve_positions(Curve::hilbert, problem.allocation());
    std::vector<std::uint32_t> index(along.size());
    for (std::uint32_t i = 0; i < along.size(); ++i) index[along[i].value] = i;
    const std::vector<Position> positions = rank_positions(problem.allocation(), start.slots());
    const auto alone = [&](Rank u) {
        return std::ranges::none_of(problem.symmetric().bytes(u), [](Bytes b) { return b.value > 0; });
    };
    enum Group : std::uint8_t { active, without_partners, fixed };
    std::vector<std::pair<Group, std::uint32_t>> keys;
    RankNumbering numbering;
    for (const Rank u : ids<Rank>(positions.size())) {
        numbering.order.push_back(u);
        const Group group = problem.fixed().contains(u) ? fixed : alone(u) ? without_partners : active;
        keys.emplace_back(group, index[positions[u.value].value]);
        if (group == active) ++numbering.active;
        if (group != fixed) ++numbering.first_fixed;
    }
    std::ranges::sort(numbering.order, {}, [&](Rank u) { return keys[u.value]; });
    for (const Rank u : numbering.order) numbering.position_of_rank.push_back(positions[u.value]);
    return numbering;
}

/// Annealing chains that cool in parallel. Rounds have a fixed number of proposals, so that results depend
/// neither on threads nor, without a time limit, on the clock.
class Annealing {
   public:
    Annealing(std::vector<std::unique_ptr<AnnealWalker>> chains, const NearLists& near, std::uint32_t active,
              const Problem& problem, const AnnealOptions& options)
        : problem_(problem), options_(options), near_(near), active_(active), chains_(std::move(chains)) {}

    std::vector<Position> run(Meter& meter) {
        if (options_.heat > 0) cool(calibrate(meter), meter);
        freeze(meter);
        return (*std::ranges::min_element(chains_, {}, [](const auto& chain) { return chain->best_value(); }))
            ->best();
    }

   private:
    static constexpr std::uint64_t max_per_round = 1U << 17;  // proposals per chain and round, about 10 ms
    static constexpr std::uint64_t min_per_step = 1U << 10;   // smallest number of proposals per temperature
    static constexpr std::uint64_t sweeps_without_budget = 100;
    /// The share of the budget that cooling uses; the rest is for freeze() and swap.
    static constexpr double share_for_cooling = 0.95;

    Cooling calibrate(Meter& meter) {
        constexpr std::uint64_t samples = 2000;
        const std::vector<std::int64_t> losses = chains_.front()->sample_losses(samples);
        meter.spend(samples);
        return Cooling::from_losses(losses, options_.heat);
    }

    void cool(const Cooling& cooling, Meter& meter) {
        const bool fit = options_.sweeps == 0 && meter.is_limited();
        const double share_at_start = meter.used_share();
        const std::uint64_t total =
            (options_.sweeps == 0 ? sweeps_without_budget : options_.sweeps) * active_;
        const auto progress_after = [&](std::uint64_t done) {
            return fit ? (meter.used_share() - share_at_start) / (share_for_cooling * (1 - share_at_start))
                       : static_cast<double>(done) / static_cast<double>(total);
        };
        std::uint64_t done = 0;
        double progress = 0;
        double before = 0;
        while (progress < 1 && !meter.is_exhausted()) {
            // The first round is short, because it measures the progress per round.
            const std::uint64_t round =
                fit ? max_per_round / (done == 0 ? 16 : 1) : std::min(max_per_round, total - done);
            const double next = fit ? progress + (progress - before) : progress_after(done + round);
            run_chains(round, meter,
                       [&](AnnealWalker& chain) { cool(chain, round, cooling, progress, next); });
            done += round;
            before = progress;
            progress = progress_after(done);
        }
    }

    void cool(AnnealWalker& chain, std::uint64_t round, const Cooling& cooling, double from,
              double to) const {
        const std::uint64_t steps =
            std::max<std::uint64_t>(1, round / std::max<std::uint64_t>(min_per_step, active_ / 2));
        for (std::uint64_t i = 0; i < steps; ++i) {
            const double at = from + (to - from) * static_cast<double>(i) / static_cast<double>(steps);
            chain.run(round * (i + 1) / steps - round * i / steps, Acceptance(cooling.at(at)));
        }
    }

    /// Continues at temperature 0 until a round gains next to nothing.
    void freeze(Meter& meter) {
        const std::uint64_t round = std::min<std::uint64_t>(max_per_round, 4 * std::uint64_t{active_});
        const auto sum = [&] {
            std::int64_t values = 0;
            for (const auto& chain : chains_) values += chain->value();
            return values;
        };
        constexpr std::int64_t least_share = 10'000;  // swap, which follows, finds the rest faster
        std::int64_t before = 0;
        do {
            before = sum();
            run_chains(round, meter, [&](AnnealWalker& chain) { chain.run(round, Acceptance(0)); });
        } while (before - sum() > before / least_share && !meter.is_exhausted());
    }

    template <class Body>
    void run_chains(std::uint64_t proposals, Meter& meter, const Body& body) {
        parallel_for(chains_.size(), problem_.threads(), [&](std::size_t i, int) { body(*chains_[i]); });
        meter.spend(proposals * chains_.size() + near_.take_work());
    }

    const Problem& problem_;
    const AnnealOptions& options_;
    const NearLists& near_;
    std::uint32_t active_;
    std::vector<std::unique_ptr<AnnealWalker>> chains_;
};

template <class Space, class Graph>
class SpaceWalkerFactory final : public WalkerFactory<Graph> {
   public:
    using Point = typename Space::Point;

    /// Refers to all arguments.
    SpaceWalkerFactory(const Space& space, std::span<const Point> slots, const Graph& graph,
                       const NearLists& near, const RankNumbering& numbering)
        : space_(space), slots_(slots), graph_(graph), near_(near), numbering_(numbering) {}

    [[nodiscard]] std::unique_ptr<AnnealWalker> make_global(Rng rng) const override {
        using Walker = SpaceWalker<Space, NearLists, Graph>;
        typename Walker::State start(space_, slots_, graph_, numbering_.position_of_rank);
        for (std::uint32_t u = numbering_.first_fixed; u < graph_.rank_count(); ++u) start.fix(Rank{u});
        return std::make_unique<Walker>(std::move(start), graph_, near_, numbering_.active, rng);
    }
    [[nodiscard]] std::unique_ptr<AnnealWalker> make_regional(const RegionState<Graph>& region,
                                                              Rng rng) const override {
        std::vector<Point> points;
        for (const Position slot : region.slots()) points.push_back(slots_[slot.value]);
        std::vector<Rank> fixed;
        for (const Rank u : ids<Rank>(region.ranks().size())) {
            if (region.ranks()[u.value].value >= numbering_.first_fixed) fixed.push_back(u);
        }
        return std::make_unique<RegionWalker>(std::move(points), space_, region, fixed, rng);
    }

   private:
    using Region = RegionState<Graph>;
    struct PointStorage {
        std::vector<Point> stored;
    };
    /// Owns the points to which its base class refers.
    class RegionWalker final
        : private PointStorage,
          public SpaceWalker<Space, typename Region::LocalNear, typename Region::LocalGraph> {
        using Walker = SpaceWalker<Space, typename Region::LocalNear, typename Region::LocalGraph>;

       public:
        RegionWalker(std::vector<Point> points, const Space& space, const Region& region,
                     std::span<const Rank> fixed, Rng rng)
            : PointStorage{std::move(points)},
              Walker(make_start(space, PointStorage::stored, region, fixed), region.graph(), region.near(),
                     region.active(), rng) {}

       private:
        [[nodiscard]] static typename Walker::State make_start(const Space& space,
                                                               std::span<const Point> points,
                                                               const Region& region,
                                                               std::span<const Rank> fixed) {
            typename Walker::State start(space, points, region.graph(), region.start_positions());
            for (const Rank u : fixed) start.fix(u);
            return start;
        }
    };

    const Space& space_;
    std::span<const Point> slots_;
    const Graph& graph_;
    const NearLists& near_;
    const RankNumbering& numbering_;
};

/// Calls use(factory, graph). The factory hides the type of the allocation's space, so that `use` is compiled
/// only once per graph type.
template <class Use>
void with_walker_factory(const Problem& problem, const RankNumbering& numbering, const NearLists& near,
                         const Use& use) {
    with_packed_graph(problem.symmetric(), numbering.order, [&]<class Graph>(const Graph& graph) {
        const std::function<void(const WalkerFactory<Graph>&)> call =
            [&](const WalkerFactory<Graph>& factory) { use(factory, graph); };
        with_fast_space(problem.allocation(), [&]<class Space>(const Space& space, const auto& slots) {
            call(SpaceWalkerFactory<Space, Graph>(space, slots, graph, near, numbering));
        });
    });
}

}  // namespace

Placement anneal_by_regions(const Problem& problem, Placement start, Meter& meter,
                            const AnnealOptions& options, std::uint32_t region_size) {
    if (!charge_preparation(meter, problem)) return start;
    const bool whole = region_size == 0;
    const Allocation& allocation = problem.allocation();
    const RankNumbering numbering = number_along_machine(problem, start);
    if (allocation.slot_count() < 2 || numbering.active == 0 || !meter.poll()) return start;
    const NearLists near(allocation, near_count);
    std::vector<Position> found;
    with_walker_factory(
        problem, numbering, near, [&]<class Graph>(const WalkerFactory<Graph>& factory, const Graph& graph) {
            if (whole) {
                std::vector<std::unique_ptr<AnnealWalker>> chains;
                for (std::uint32_t i = 0; i < options.chains; ++i)
                    chains.push_back(factory.make_global(Rng(problem.seed(), i)));
                found = Annealing(std::move(chains), near, numbering.active, problem, options).run(meter);
            } else {
                found = RegionAnnealing(factory, graph, near, problem, numbering.active,
                                        numbering.position_of_rank, region_size)
                            .run(options, meter);
            }
        });
    std::vector<Position> result(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) result[numbering.order[i].value] = found[i];
    Placement placement = placement_at(allocation, result);
    if (!meter.is_exhausted()) {
        // For many ranks, and for dense graphs after a short search, swap with a wider neighborhood takes as
        // long as annealing, which gains more in that time.
        const std::size_t ranks = problem.rank_count();
        const bool brief = options.sweeps > 0 && options.sweeps < 1000;
        const bool dense = problem.symmetric().edge_count() > 4 * ranks;
        const SwapOptions last{.reach = (brief && dense) || ranks > max_ranks_in_parallel ? 1U : 3U};
        placement = improve_by_swaps(problem, std::move(placement), meter, last);
    }
    // Chains return their best placement. Regions are annealed independently, so the combined result can be
    // worse than the start.
    const bool worse = !whole && problem.value(placement.slots()) > problem.value(start.slots());
    return worse ? start : placement;
}

double estimate_annealing_gain(const Problem& problem, const Placement& start, Meter& meter,
                               const AnnealOptions& options) {
    if (!charge_preparation(meter, problem)) return 0;
    const RankNumbering numbering = number_along_machine(problem, start);
    if (problem.allocation().slot_count() < 2 || numbering.active == 0) return 0;
    const NearLists near(problem.allocation(), near_count);
    double gain = 0;
    with_walker_factory(problem, numbering, near,
                        [&]<class Graph>(const WalkerFactory<Graph>& factory, const Graph& graph) {
                            gain = RegionAnnealing(factory, graph, near, problem, numbering.active,
                                                   numbering.position_of_rank, usual_region_size)
                                       .probe(options, meter);
                        });
    return gain;
}

Placement improve_by_annealing(const Problem& problem, Placement start, Meter& meter,
                               const AnnealOptions& options) {
    constexpr std::size_t most_at_once = 4096;  // with two regions or more, two cores work
    return anneal_by_regions(problem, std::move(start), meter, options,
                             problem.rank_count() > most_at_once ? usual_region_size : 0);
}

MapperEntry anneal_mapper() {
    return mapper_entry<improve_by_annealing>(
        {.name = "anneal",
         .summary = "simulated annealing: moves ranks beside their partners, accepting ever fewer losses",
         .source = "Connolly 1990",
         .needs = "graph, distances, time",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::local
