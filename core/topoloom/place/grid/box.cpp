// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/box.hpp"

#include "topoloom/place/entry.hpp"
#include "topoloom/place/grid/grid_boxes.hpp"
#include "topoloom/place/shared/fitting.hpp"

namespace topoloom::grid {

Placement place_box(const Problem& problem, Meter& meter, const GridOptions& options) {
    if (auto placed = box_grid(problem, rank_grid(problem, options.grid, "box"), meter))
        return *std::move(placed);
    shared::fail_to_fit();
}

std::optional<Placement> box_grid(const Problem& problem, const RankGrid& grid, Meter& meter) {
    meter.spend(problem.rank_count());
    const auto slots = problem.allocation().slots();
    return place_in_boxes(problem, grid, boxes_of_least_surface(grid, slots.size()), slots);
}

MapperEntry box_mapper() {
    return mapper_entry<place_box>(
        {.name = "box",
         .summary = "the ranks' grid in equal boxes of least surface, box i on slot i",
         .source = "Bhatele, Kale 2008",
         .needs = "grid of ranks, shared slots",
         .serves = Serves::shared});
}

}  // namespace topoloom::grid
