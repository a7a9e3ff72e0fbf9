// SPDX-License-Identifier: BSD-3-Clause
// The portfolio mapper `auto`: tries mappers that suit the problem and returns the best placement.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/place/dense/exact.hpp"
#include "topoloom/place/grid/box.hpp"
#include "topoloom/place/grid/fold.hpp"
#include "topoloom/place/grid/tile.hpp"
#include "topoloom/place/links/congestion.hpp"
#include "topoloom/place/links/local_opt.hpp"
#include "topoloom/place/local/anneal.hpp"
#include "topoloom/place/local/resettle.hpp"
#include "topoloom/place/local/tabu.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/multilevel/multisection.hpp"
#include "topoloom/place/multilevel/refine.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/effort_limits.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/structure/bricks.hpp"
#include "topoloom/place/structure/structure.hpp"

namespace topoloom::portfolio {

namespace {

struct AutoOptions {
    Effort effort = Effort::standard;
    void visit(auto& field) { field("effort", effort, effort_names, "how long to search"); }
};

/// Stores the best of the placements offered so far.
class BestPlacement {
   public:
    explicit BestPlacement(const Problem& problem) : problem_(problem) {}

    void offer(std::optional<Placement> placement) {
        if (!placement) return;
        const CongestionKey key = problem_.key(placement->slots());
        if (placement_ && key >= key_) return;
        placement_ = std::move(placement);
        key_ = key;
    }
    [[nodiscard]] const Placement& placement() const { return *placement_; }
    /// Hop-bytes, including migration cost.
    [[nodiscard]] std::int64_t value() const { return key_.hop_bytes; }

   private:
    const Problem& problem_;
    std::optional<Placement> placement_;
    CongestionKey key_;
};

/// Up to this number of ranks, the time of searches is negligible.
constexpr std::size_t small_rank_count = 300;

/// Runs mappers in parallel or, for many ranks, one after another. The work of all is charged to `meter`.
void try_all(const Problem& problem, const std::vector<std::string>& chains, BestPlacement& best,
             Meter& meter) {
    if (problem.rank_count() > max_ranks_in_parallel) {
        for (const std::string& chain : chains) {
            if (!meter.is_exhausted()) best.offer(place(problem, chain, meter));
        }
        return;
    }
    std::vector<std::optional<Placement>> found(chains.size());
    search_in_parallel(chains.size(), problem.threads(), meter, [&](std::size_t i, Meter& own) {
        found[i] = place(problem.with_seed(problem.seed() + i), chains[i], own);
    });
    for (std::optional<Placement>& placement : found) best.offer(std::move(*placement));
}

std::vector<std::string> list_candidates(const Problem& problem, const EffortLimits& limits) {
    const std::size_t ranks = problem.rank_count();
    // Annealing follows. It improves as much as swap or a second start would, at lower cost.
    if (!limits.tries_many)
        return {ranks > small_rank_count ? "multisection(starts=1)" : "multisection+swap"};
    if (ranks > max_ranks_in_parallel) return {"multisection"};
    const std::string good = "multisection(starts=8,cycles=2)+swap";
    const std::string on_rings = "multisection(starts=8,cycles=2,rings=rings)+swap";
    std::vector<std::string> chains{good, on_rings};
    if (ranks > small_rank_count) {  // greedy mappers are slower and far worse
        chains.insert(chains.end(), {good, on_rings});
    } else {
        chains.insert(chains.end(), {"mahd+swap", "gge+swap"});
    }
    // On trees and other sparse graphs, a start takes milliseconds and results vary, so many starts are
    // tried.
    const std::size_t edges = std::max<std::size_t>(1, problem.symmetric().edge_count());
    const std::size_t more = edges <= 4 * ranks ? std::min<std::size_t>(30, 40'000 / edges) : 0;
    chains.insert(chains.end(), more, "multisection(starts=1)+swap");
    chains.insert(chains.end(), limits.long_multisections, "multisection(starts=16,cycles=4)+swap");
    chains.insert(chains.end(), limits.long_multisections,
                  "multisection(starts=16,cycles=4,rings=rings)+swap");
    return chains;
}

/// The options of annealing. They limit the proposals per chain; about 10 million proposals take a second.
local::AnnealOptions choose_anneal_options(const Problem& problem, const Meter& meter,
                                           const EffortLimits& limits) {
    const auto ranks = static_cast<double>(problem.rank_count());
    const double degree = static_cast<double>(problem.symmetric().edge_count()) / ranks;
    if (ranks > max_ranks_in_parallel && !meter.is_limited()) {
        const double sweeps = std::clamp(limits.region_annealing / (9 + degree) / ranks, 16.0, 10000.0);
        // A short search cannot repair what high temperatures destroy.
        return {.sweeps = static_cast<std::uint32_t>(sweeps), .heat = sweeps < 100 ? 30U : 300U};
    }
    const double brief = problem.rank_count() > small_rank_count ? std::min(50 * ranks, 1.5e6) : 300 * ranks;
    const double standard = 1e8 / (9 + degree) * std::clamp(ranks / 1e3, 1.0, 2.5);
    const double proposals = limits.annealing == 0 ? brief : limits.annealing * standard;
    const auto sweeps = static_cast<std::uint32_t>(proposals / ranks);
    // If the user set a budget, searches until it is used up, whatever the effort.
    if (meter.is_limited()) return {.sweeps = 0, .heat = 300, .chains = 2};
    return {.sweeps = sweeps, .heat = sweeps < 1000 ? 60U : 300U, .chains = limits.annealing_chains};
}

/// Anneals the best placement. Annealing cannot improve some structured placements, of hypercubes for
/// instance. If the structured placement is still the best after a short search at low temperature, a test
/// run decides whether to go on.
void anneal_best(const Problem& problem, BestPlacement& best, std::int64_t structured_value, Meter& meter,
                 const EffortLimits& limits) {
    const local::AnnealOptions options = choose_anneal_options(problem, meter, limits);
    if (meter.is_exhausted() || (options.sweeps == 0 && !meter.is_limited())) return;
    if (options.sweeps > 0 && limits.tests_annealing && problem.rank_count() <= max_ranks_in_parallel) {
        const Placement start = best.placement();
        best.offer(
            local::improve_by_annealing(problem, start, meter, {.sweeps = 100, .heat = 10, .chains = 1}));
        if (best.value() == structured_value) {
            best.offer(local::improve_by_annealing(
                problem, start, meter, {.sweeps = options.sweeps / 10, .heat = options.heat, .chains = 1}));
            if (best.value() == structured_value) return;
        }
    }
    best.offer(local::improve_by_annealing(problem, best.placement(), meter, options));
}

/// On few slots, runs tabu search with all pair exchanges. What it still gains is most for dense patterns.
void improve_by_all_exchanges(const Problem& problem, BestPlacement& best, Meter& meter,
                              const EffortLimits& limits) {
    const std::size_t slots = problem.allocation().slot_count();
    if (slots > limits.max_tabu_slots || slots < 2 || meter.is_exhausted()) return;
    const std::size_t iterations = limits.tabu_exchanges / (slots * (slots - 1) / 2);
    best.offer(local::improve_by_tabu(
        problem, best.placement(), meter,
        {.iterations = static_cast<std::uint32_t>(std::min(iterations, limits.max_tabu_iterations))}));
}

/// If there is an earlier placement, improves both it and the best new placement by changes that gain more
/// than they cost to migrate.
void remap_if_worthwhile(const Problem& problem, BestPlacement& best, Meter& meter) {
    if (problem.migration() == nullptr) return;
    Placement renewed = best.placement();
    best.offer(local::improve_by_resettling(problem, std::move(renewed), meter));
    best.offer(local::improve_by_resettling(problem, local::place_previous(problem, meter), meter));
}

Placement place_one_rank_per_slot(const Problem& problem, Meter& meter, const EffortLimits& limits) {
    BestPlacement best(problem);
    best.offer(simple::place_block(problem, meter));
    const CommGraph& partners = problem.symmetric();  // computed here once, for all candidates
    std::int64_t structured_value = std::numeric_limits<std::int64_t>::max();
    if (auto structured = structure::place_by_structure(problem, meter)) {
        best.offer(std::move(structured->placement));
        structured_value = best.value();
        // For many ranks, further searches would take a minute and gain nothing.
        const bool enough = structured->plain && problem.rank_count() > max_ranks_in_parallel &&
                            limits.trusts_plain_structure && !meter.is_limited();
        if ((structured->optimal || enough) && problem.migration() == nullptr) return best.placement();
    }
    if (partners.edge_count() == 0) return best.placement();
    if (const auto grid = find_rank_grid(problem)) {
        best.offer(grid::place_grid_by_folding(problem, *grid, meter));
        // If the grid does not divide into equal boxes for the nodes, strips may be better.
        if (problem.machine().slots_per_node() > 1 && !meter.is_exhausted())
            best.offer(grid::place_grid_in_tiles(problem, *grid, meter));
        structured_value = best.value();
    }
    best.offer(structure::place_recognized_bricks(problem, meter));
    try_all(problem, list_candidates(problem, limits), best, meter);
    const bool limited = meter.is_limited();  // then run annealing last, which uses up the budget
    if (limited) improve_by_all_exchanges(problem, best, meter, limits);
    anneal_best(problem, best, structured_value, meter, limits);
    if (!limited) improve_by_all_exchanges(problem, best, meter, limits);
    remap_if_worthwhile(problem, best, meter);
    return best.placement();
}

/// With few ranks and slots, runs an exact search of at most `work` units of work.
void search_shared_exactly(const Problem& problem, BestPlacement& best, Meter& meter, std::uint64_t work) {
    constexpr std::size_t few_ranks_and_slots = 40;
    if (problem.rank_count() + problem.allocation().slot_count() > few_ranks_and_slots ||
        meter.is_exhausted())
        return;
    Budget part = meter.sub_budget(1);
    part.work = std::min(part.work, work);
    Meter part_meter(part);
    best.offer(dense::improve_shared_placement(problem, best.placement(), part_meter).placement);
    meter.spend(part_meter.work_done());
}

Placement place_on_shared_slots(const Problem& problem, Meter& meter, const EffortLimits& limits) {
    BestPlacement best(problem);
    multilevel::MultisectionOptions sections = limits.sections;
    // On larger machines, the first splits are a smaller part of the whole work, so they may take longer.
    if (problem.allocation().slot_count() >= 64) sections.islands = limits.islands_of_many;
    best.offer(multilevel::place_multisection(problem, meter, sections));
    if (auto bricks = structure::place_recognized_bricks(problem, meter)) {
        // Refinement also counts the messages that proxies save, so it may worsen a placement by bricks.
        if (problem.uses_proxies()) best.offer(*bricks);
        best.offer(
            multilevel::refine_shared(problem, *std::move(bricks), meter, {.cycles = limits.brick_cycles}));
    }
    if (problem.migration() != nullptr)
        best.offer(
            multilevel::refine_shared(problem, local::place_previous(problem, meter), meter, {.cycles = 0}));
    if (const auto grid = find_rank_grid(problem)) {
        best.offer(grid::place_grid_in_boxes(problem, *grid, meter));
        if (auto folded = grid::place_grid_by_folding(problem, *grid, meter)) {
            if (limits.refines_folds)
                folded = multilevel::refine_shared(problem, *std::move(folded), meter, {.cycles = 0});
            best.offer(std::move(folded));
        }
    }
    if (limits.last_cycles > 0)
        best.offer(
            multilevel::refine_shared(problem, best.placement(), meter, {.cycles = limits.last_cycles}));
    // Tries block order only if all loads are equal, because unequal loads may not fit.
    if (std::ranges::adjacent_find(problem.capacity().masses(), std::not_equal_to<>{}) ==
        problem.capacity().masses().end()) {
        best.offer(simple::place_block(problem, meter));
    }
    if (!problem.uses_proxies()) search_shared_exactly(problem, best, meter, limits.exact_work);
    return best.placement();
}

/// The number of links that a message visits, relative to the usual number; at least 1. Large if messages are
/// split over many paths.
double estimate_route_length(const Allocation& allocation) {
    constexpr double usual = 12;
    constexpr std::size_t samples = 64;
    const std::span<const Node> nodes = allocation.nodes();
    double visits = 0;
    const NetworkView network(allocation.machine().topology());
    for (std::size_t i = 0; i < samples; ++i) {
        const Node from = nodes[i * nodes.size() / samples];
        const Node to = nodes[(i * 37 + nodes.size() / 2) % nodes.size()];
        if (from != to) network.route(from, to, [&](Link, double) { visits += 1; });
    }
    return std::max(1.0, visits / samples / usual);
}

/// The number of sweeps that take `tenths` tenths of the standard annealing time, for routes of this relative
/// length.
std::uint32_t choose_annealing_sweeps(const Problem& problem, double length, std::uint64_t tenths) {
    const double standard = links::annealing_sweeps(problem.graph()) / length;
    const auto sweeps = static_cast<std::uint64_t>(std::max(1.0, standard)) * tenths / 10;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, sweeps));
}

/// The number of evaluations of local-opt after annealing, about half a second by default. An evaluation
/// takes time in proportion to the messages of a rank.
std::uint64_t compute_descent_work(const CommGraph& graph, const EffortLimits& limits) {
    const double degree = static_cast<double>(graph.edge_count()) / static_cast<double>(graph.rank_count());
    return static_cast<std::uint64_t>(limits.descent_messages / (1 + degree));
}

/// Whether `near` takes at most 1 % longer than `other` and has fewer hop-bytes, which means less
/// interference with other jobs.
bool is_nearer_and_as_fast(const Problem& problem, const Placement& near, const Placement& other) {
    constexpr double hardly = 1.01;
    if (!problem.link_objective().mix.is(ObjectiveKind::time) || problem.migration() != nullptr) return false;
    const CongestionKey key = problem.key(near.slots());
    const CongestionKey of_other = problem.key(other.slots());
    return key.congestion <= hardly * of_other.congestion && key.hop_bytes < of_other.hop_bytes;
}

/// Offers placements with few hop-bytes, found with a share of the budget. Returns the last one.
Placement offer_nearest(const Problem& near, BestPlacement& best, Meter& meter, const EffortLimits& limits) {
    constexpr double share_for_hop_bytes = 0.3;
    const Budget part = meter.sub_budget(share_for_hop_bytes);
    Meter part_meter(part);
    if (near.rank_count() <= small_rank_count && limits.tries_greedy) {
        try_all(near, {"round-robin", "hilbert", "gge", "mahd", "mahd+swap", "emahd", "multisection+swap"},
                best, part_meter);
    }
    Placement nearest = place_one_rank_per_slot(near, part_meter, limits_of(limits.near));
    best.offer(nearest);
    meter.spend(part_meter.work_done());
    return nearest;
}

/// Bounds local-opt by `most` work: a descent from plateau to plateau would take seconds and gain little.
Placement run_short_local_opt(const Problem& problem, Placement placement, std::uint64_t most, Meter& meter) {
    Budget budget = meter.sub_budget(1);
    budget.work = std::min(budget.work, most);
    Meter brief(budget);
    placement = links::improve_by_local_opt(problem, std::move(placement), brief);
    meter.spend(brief.work_done());
    return placement;
}

/// Minimizes an objective on links. Starts with the best placement by hop-bytes, because short routes share
/// few links, and then anneals the link loads. For few ranks, greedy mappers and several starts are tried
/// too, because their message distribution varies randomly.
Placement minimize_link_objective(const Problem& problem, Meter& meter, const EffortLimits& limits) {
    // With few ranks, results vary randomly, and all starts together take no longer than one start on many
    // ranks.
    constexpr std::size_t starts_on_links = 8;
    const double length = estimate_route_length(problem.allocation());
    // If the user set a budget, searches until it is used up, whatever the effort.
    links::CongestionOptions annealing{
        .sweeps = meter.is_limited() ? 1'000'000'000
                                     : choose_annealing_sweeps(problem, length, limits.link_tenths)};
    BestPlacement best(problem);
    const Placement block = simple::place_block(problem, meter);
    best.offer(block);
    const Problem near = problem.for_hop_bytes();
    if (near.symmetric().edge_count() == 0) return best.placement();
    const Placement nearest = offer_nearest(near, best, meter, limits);
    // Block order may keep most messages off the links, as with balanced columns of a triangular grid. It
    // then beats placements with few hop-bytes, but is a local optimum, so annealing also starts from such a
    // placement.
    const bool trapped = std::ranges::equal(best.placement().slots(), block.slots());
    const bool is_small = problem.rank_count() <= small_rank_count;
    const bool in_pairs = !is_small && problem.rank_count() <= max_ranks_in_parallel && !meter.is_limited();
    const std::size_t starts = is_small   ? std::clamp<std::size_t>(annealing.sweeps, 2, starts_on_links)
                               : in_pairs ? 2
                                          : 1;
    if (is_small) annealing.sweeps = std::max(1U, annealing.sweeps / static_cast<std::uint32_t>(starts));
    // The better of two walks of 3/5 length is as good as one full walk, and the two run in parallel.
    if (in_pairs) annealing.sweeps = std::max(1U, annealing.sweeps * 3 / 5);
    const auto start = [&](std::size_t i, const Problem& seeded, Meter& own) {
        if (i == 0) return best.placement();
        if (i == 1 && trapped) return nearest;
        if (in_pairs) return best.placement();
        return place(seeded.for_hop_bytes(), "multisection", own);
    };
    std::vector<std::optional<Placement>> found(starts);
    std::vector<CongestionKey> keys(starts);
    search_in_parallel(starts, problem.threads(), meter, [&](std::size_t i, Meter& own) {
        const Problem seeded = starts == 1 ? problem : problem.with_seed(problem.seed() + i);
        found[i] = links::anneal_links(seeded, start(i, seeded, own), own, annealing);
        keys[i] = problem.key(found[i]->slots());
    });
    std::vector<std::size_t> order(starts);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return keys[i]; });
    // Runs local-opt only on the best results. With long routes, a single local-opt takes as long as three
    // usually do.
    order.resize(is_small && length < 2 ? std::min<std::size_t>(3, starts) : 1);
    const double most = static_cast<double>(compute_descent_work(problem.graph(), limits)) / length;
    const std::uint64_t most_work =
        meter.is_limited() ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(most);
    search_in_parallel(order.size(), problem.threads(), meter, [&](std::size_t k, Meter& own) {
        std::optional<Placement>& placement = found[order[k]];
        placement = run_short_local_opt(problem, *std::move(placement), most_work, own);
    });
    for (const std::size_t i : order) best.offer(std::move(found[i]));
    return is_nearer_and_as_fast(problem, nearest, best.placement()) ? nearest : best.placement();
}

/// Ensures that the result is not slower than block order. A placement with fewer hop-bytes or lower link
/// loads may be slower, for example if it overloads one node's NIC. In that case, searches for short times,
/// and returns the best by the objective among block order and the placements that are no slower.
Placement ensure_no_slower_than_block(const Problem& problem, Placement found, Meter& meter,
                                      const EffortLimits& limits) {
    if (!problem.machine().has_bandwidths() || problem.migration() != nullptr) return found;
    constexpr double rounding = 1 + 1e-9;
    constexpr double sure_gain = 0.03;
    Placement block = simple::place_block(problem, meter);
    const double of_block = problem.time(block.slots());
    const double most = of_block * rounding;
    const double of_found = problem.time(found.slots());
    // If messages are latency-bound, a gain within the model's error does not justify another order, but
    // fewer hop-bytes do.
    const double gain = of_block > 0 ? 1 - of_found / of_block : 0;
    const auto hop_bytes = [&](const Placement& p) {
        return problem.for_hop_bytes().key(p.slots()).hop_bytes;
    };
    const bool is_worth_it = gain >= sure_gain || hop_bytes(found) < hop_bytes(block);
    if (!is_worth_it && problem.link_objective().mix.is(ObjectiveKind::time) &&
        !problem.is_bandwidth_bound(block.slots()))
        return block;
    if (of_found <= most) return found;
    const PhasedObjective objective = problem.link_objective();
    const Problem for_time =
        problem.with_objective(objective_of(ObjectiveKind::time), objective.phases, objective.background);
    BestPlacement best(problem);
    best.offer(block);
    const auto offer = [&](Placement quicker) {
        if (problem.time(quicker.slots()) <= most) best.offer(std::move(quicker));
    };
    const std::uint64_t tenths = std::min<std::uint64_t>(limits.link_tenths, 10);
    const links::CongestionOptions annealing{
        .sweeps = choose_annealing_sweeps(problem, estimate_route_length(problem.allocation()), tenths)};
    for (const Placement& start : {found, block})
        offer(links::anneal_links(for_time, start, meter, annealing));
    // If the objective is time, `found` is already the result of this search.
    if (problem.rank_count() <= max_ranks_in_parallel && !objective.mix.is(ObjectiveKind::time))
        offer(minimize_link_objective(for_time, meter, limits));
    return best.placement();
}

/// Chooses constructors and improvers by the number of ranks, the structure and density of the graph, and the
/// effort. Returns the best placement by the problem's objective: never worse than block order or any mapper
/// that it tried. The standard effort takes under 1 s for 1,000 ranks and under 10 s for 100,000.
Placement place_auto(const Problem& problem, Meter& meter, const AutoOptions& options) {
    const EffortLimits& limits = limits_of(options.effort);
    if (!problem.capacity().one_rank_per_slot()) return place_on_shared_slots(problem, meter, limits);
    Placement found = problem.is_for_hop_bytes() ? place_one_rank_per_slot(problem, meter, limits)
                                                 : minimize_link_objective(problem, meter, limits);
    return ensure_no_slower_than_block(problem, std::move(found), meter, limits);
}

}  // namespace

MapperEntry auto_mapper() {
    return mapper_entry<place_auto>({.name = "auto",
                                     .summary = "tries what suits the problem and keeps the best",
                                     .needs = "graph, distances",
                                     .occupancy = Occupancy::both,
                                     .minimizes = SearchObjective::objective});
}

}  // namespace topoloom::portfolio
