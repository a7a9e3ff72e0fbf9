// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/box.hpp"

#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/place/grid/grid_boxes.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/shared/fitting.hpp"

namespace topoloom::grid {

namespace {

std::optional<Placement> place_boxes(const Problem& problem, const RankGrid& grid,
                                     std::span<const Slot> slots, Meter& meter) {
    meter.spend(problem.rank_count());
    return place_in_boxes(problem, grid, boxes_of_least_surface(grid, slots.size()), slots);
}

}  // namespace

Placement place_box(const Problem& problem, Meter& meter, const BoxOptions& options) {
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(all.begin(), all.end());
    if (options.random) Rng(problem.seed()).shuffle(std::span<Slot>(slots));
    if (auto placed = place_boxes(problem, rank_grid(problem, options.grid, "box"), slots, meter))
        return *std::move(placed);
    shared::fail_to_fit();
}

std::optional<Placement> place_grid_in_boxes(const Problem& problem, const RankGrid& grid, Meter& meter) {
    return place_boxes(problem, grid, problem.allocation().slots(), meter);
}

MapperEntry box_mapper() {
    return mapper_entry<place_box>(
        {.name = "box",
         .summary = "the ranks' grid in equal boxes of least surface, box i on slot i or on a random one",
         .source = "Bhatele, Kale 2008",
         .needs = "grid of ranks, shared slots",
         .occupancy = Occupancy::shared});
}

}  // namespace topoloom::grid
