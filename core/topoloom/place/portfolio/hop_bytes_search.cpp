// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/hop_bytes_search.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/place/grid/fold.hpp"
#include "topoloom/place/grid/tile.hpp"
#include "topoloom/place/local/anneal.hpp"
#include "topoloom/place/local/resettle.hpp"
#include "topoloom/place/local/tabu.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/structure/bricks.hpp"
#include "topoloom/place/structure/structure.hpp"

namespace topoloom::portfolio {

namespace {

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

}  // namespace

Placement minimize_hop_bytes(const Problem& problem, Meter& meter, const EffortLimits& limits) {
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

}  // namespace topoloom::portfolio
