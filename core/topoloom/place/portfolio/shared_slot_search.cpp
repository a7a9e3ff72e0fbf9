// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/shared_slot_search.hpp"

#include <algorithm>
#include <functional>

#include "topoloom/place/grid/box.hpp"
#include "topoloom/place/grid/fold.hpp"
#include "topoloom/place/local/resettle.hpp"
#include "topoloom/place/multilevel/multisection.hpp"
#include "topoloom/place/multilevel/refine.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/structure/bricks.hpp"

namespace topoloom::portfolio {

Placement minimize_on_shared_slots(const Problem& problem, Meter& meter, const EffortLimits& limits) {
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
    return best.placement();
}

}  // namespace topoloom::portfolio
