// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/fold.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"
#include "topoloom/place/grid/fold_plan.hpp"
#include "topoloom/place/grid/paired_halving.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/shared/fitting.hpp"

namespace topoloom::grid {

namespace {

/// Up to this number of ranks, several variants are tried, including the halving that computes the cost of
/// every cut.
constexpr std::size_t max_weighed = 20'000;

GridPattern make_pattern(const RankGrid& grid) {
    GridPattern pattern;
    pattern.rank_of_cell = grid.rank_of_cell;
    const std::vector<PlaneBytes> planes = count_plane_bytes(grid);
    for (std::size_t i = 0; i < grid.axes(); ++i) {
        const bool ring = planes[i].around > 0 && grid.extents[i] > 2;
        pattern.axes.push_back({grid.extents[i], ring ? AxisKind::ring : AxisKind::path});
        pattern.weight.push_back(planes[i].between / 2 * grid.extents[i] / static_cast<double>(grid.cells()));
    }
    return pattern;
}

/// Halves the grid and the slots together.
std::optional<Placement> place_by_halves(const Problem& problem, const GridPattern& pattern, CutChoice cuts) {
    // CutChoice::by_shape does not use the symmetric graph.
    const CommGraph& graph = cuts == CutChoice::by_shape ? problem.graph() : problem.symmetric();
    std::vector<Slot> slots =
        place_by_halving(pattern, graph, problem.allocation(), SlotChoice::by_number, cuts);
    if (problem.capacity().one_rank_per_slot()) return Placement(problem.allocation(), std::move(slots));
    return shared::try_to_fit(problem, {problem.allocation(), std::move(slots), SlotUse::shared});
}

/// What the user requires of a fold. Fields that are empty are chosen automatically.
struct FoldRequirements {
    Extents boxes;
    bool reflect = true;
    std::string onto;
};

AxisMapping parse_onto(const RankGrid& grid, const SlotGrid& slots, const FoldRequirements& requirements) {
    if (requirements.onto.empty()) return {};
    AxisMapping mapping = parse_axis_mapping(requirements.onto, grid.axes(), slots.extent.size());
    const Extents routers = mapped_extents(mapping, slots.extent);
    const Extents& boxes = requirements.boxes.empty() ? grid.extents : requirements.boxes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const bool whole = requirements.boxes.empty() ? boxes[i] >= routers[i] : boxes[i] % routers[i] == 0;
        if (!whole)
            fail("fold: onto=", requirements.onto, " maps ", format_extents(boxes),
                 requirements.boxes.empty() ? " cells" : " boxes", " onto ", format_extents(routers),
                 " routers, which does not divide them; leave out onto");
    }
    return mapping;
}

std::optional<Placement> fold_boxes(const Problem& problem, const RankGrid& grid, std::size_t count,
                                    const FoldRequirements& requirements) {
    const auto slots = slot_grid(problem.allocation(), count);
    if (!slots) return std::nullopt;
    const NodeSpec& inside = problem.machine().node_spec();
    const auto plan =
        plan_fold({grid, *slots, inside.hop_weight, 2 * inside.host_distance, requirements.reflect,
                   requirements.boxes, parse_onto(grid, *slots, requirements)});
    if (!plan) return std::nullopt;
    return place_in_boxes(problem, grid, plan->boxes, plan->slot_of_box);
}

/// Returns the best of several variants, for ragged allocations and for grids that do not fit exactly.
std::optional<Placement> fold_with_fallbacks(const Problem& problem, const RankGrid& grid) {
    const GridPattern pattern = make_pattern(grid);
    std::optional<Placement> best;
    const auto offer = [&](std::optional<Placement> found) {
        if (!found) return;
        if (!best || problem.value(found->slots()) < problem.value(best->slots())) best = std::move(found);
    };
    // Uses a box per slot instead of per rank; a few evenly spaced slots stay empty.
    if (problem.capacity().one_rank_per_slot())
        best = fold_boxes(problem, grid, problem.allocation().slot_count(), {});
    const bool few = problem.rank_count() <= max_weighed;
    if (best && !few) return best;
    offer(place_by_halves(problem, pattern, CutChoice::by_shape));
    if (few) offer(place_by_halves(problem, pattern, CutChoice::by_cost));
    return best;
}

void check_boxes(const Problem& problem, const RankGrid& grid, const Extents& boxes) {
    if (boxes.empty()) return;
    const std::size_t slots = problem.allocation().slot_count();
    if (problem.capacity().one_rank_per_slot())
        fail("fold: every rank has a slot of its own, so there are no boxes to choose; leave out boxes");
    if (boxes.size() != grid.axes()) {
        fail("fold: boxes of ", format_extents(boxes), " for ranks in a grid of ",
             format_extents(grid.extents), "; give one number for each of the ", grid.axes(), " axes");
    }
    if (cell_count(boxes) != slots) {
        fail("fold: ", format_extents(boxes), " boxes do not give the ", slots,
             " boxes that the slots need; the nearest that do are ",
             format_extents(nearest_extents(boxes, slots)));
    }
}

std::optional<Placement> fold_with_requirements(const Problem& problem, const RankGrid& grid,
                                                FoldRequirements requirements, Meter& meter) {
    meter.spend(problem.rank_count());
    const bool alone = problem.capacity().one_rank_per_slot();
    const std::size_t count = alone ? problem.rank_count() : problem.allocation().slot_count();
    const bool anyhow = requirements.boxes.empty();
    if (alone) requirements.boxes = grid.extents;
    if (auto folded = fold_boxes(problem, grid, count, requirements)) return folded;
    if (!anyhow)
        fail("fold: ", format_extents(requirements.boxes),
             " boxes do not fold onto these slots; leave out boxes");
    if (!requirements.onto.empty())
        fail("fold: onto=", requirements.onto,
             " needs slots that form a complete torus or mesh; leave out onto");
    return fold_with_fallbacks(problem, grid);
}

}  // namespace

Placement place_fold(const Problem& problem, Meter& meter, const FoldOptions& options) {
    if (!options.onto.empty() && options.grid.empty())
        fail("fold: onto=", options.onto,
             " is for the axes of a grid in their order; name it, as in "
             "fold(grid=64x1024,onto=x+zy)");
    if (options.grid.empty() && !charge_preparation(meter, problem) && problem.capacity().one_rank_per_slot())
        return fall_back_to_block(problem);
    const RankGrid grid = rank_grid(problem, options.grid, "fold");
    check_boxes(problem, grid, options.boxes);
    if (auto folded =
            fold_with_requirements(problem, grid, {options.boxes, options.reflect, options.onto}, meter))
        return *std::move(folded);
    shared::fail_to_fit();
}

std::optional<Placement> place_grid_by_folding(const Problem& problem, const RankGrid& grid, Meter& meter) {
    return fold_with_requirements(problem, grid, {}, meter);
}

MapperEntry fold_mapper() {
    return mapper_entry<place_fold>(
        {.name = "fold",
         .summary = "the ranks' grid in boxes folded onto routers, nodes and cores for the fewest hop-bytes",
         .source = "Bhatele, Kale 2008; Ma, Tao 1987",
         .needs = "grid of ranks, coordinates",
         .occupancy = Occupancy::both});
}

}  // namespace topoloom::grid
