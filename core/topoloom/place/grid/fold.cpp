// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/fold.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"
#include "topoloom/place/grid/fold_plan.hpp"
#include "topoloom/place/grid/paired_halving.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/shared/fitting.hpp"

namespace topoloom::grid {

namespace {

/// Up to this number of ranks, several variants are tried, and halving may compute the cost of every cut.
constexpr std::size_t max_weighed = 20'000;

GridPattern pattern_of(const RankGrid& grid) {
    GridPattern pattern;
    pattern.rank_of_cell = grid.rank_of_cell;
    const std::vector<PlaneBytes> planes = plane_bytes(grid);
    for (std::size_t i = 0; i < grid.axes(); ++i) {
        const bool ring = planes[i].around > 0 && grid.extents[i] > 2;
        pattern.axes.push_back({grid.extents[i], ring ? AxisKind::ring : AxisKind::path});
        pattern.weight.push_back(planes[i].between / 2 * grid.extents[i] / static_cast<double>(grid.cells()));
    }
    return pattern;
}

/// Halves the grid and the slots together.
std::optional<Placement> halve(const Problem& problem, const GridPattern& pattern, CutChoice cuts) {
    // CutChoice::by_shape does not use the symmetric graph.
    const CommGraph& graph = cuts == CutChoice::by_shape ? problem.graph() : problem.symmetric();
    std::vector<Slot> slots =
        place_by_halving(pattern, graph, problem.allocation(), SlotChoice::by_number, cuts);
    if (problem.capacity().one_rank_per_slot()) return Placement(problem.allocation(), std::move(slots));
    return shared::try_to_fit(problem, {problem.allocation(), std::move(slots), SlotUse::shared});
}

/// Requirements of a fold; empty fields are chosen automatically.
struct Wanted {
    Extents boxes;
    bool reflect = true;
    std::string onto;
};

AxisMapping axes_wanted(const RankGrid& grid, const SlotGrid& slots, const Wanted& wanted) {
    if (wanted.onto.empty()) return {};
    AxisMapping laid = parse_axis_mapping(wanted.onto, grid.axes(), slots.extent.size());
    const Extents routers = mapped_extents(laid, slots.extent);
    const Extents& boxes = wanted.boxes.empty() ? grid.extents : wanted.boxes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const bool whole = wanted.boxes.empty() ? boxes[i] >= routers[i] : boxes[i] % routers[i] == 0;
        if (!whole)
            fail("fold: onto=", wanted.onto, " lays ", format_extents(boxes),
                 wanted.boxes.empty() ? " cells" : " boxes", " onto ", format_extents(routers),
                 " routers, which does not divide them; leave out onto");
    }
    return laid;
}

std::optional<Placement> fold_boxes(const Problem& problem, const RankGrid& grid, std::size_t count,
                                    const Wanted& wanted) {
    const auto slots = slot_grid(problem.allocation(), count);
    if (!slots) return std::nullopt;
    const NodeSpec& inside = problem.machine().node_spec();
    const auto plan = plan_fold({grid, *slots, inside.hop_weight, 2 * inside.host_distance, wanted.reflect,
                                 wanted.boxes, axes_wanted(grid, *slots, wanted)});
    if (!plan) return std::nullopt;
    return place_in_boxes(problem, grid, plan->boxes, plan->slot_of_box);
}

/// The best of several variants, for ragged allocations and grids that fit no other way.
std::optional<Placement> fold_anyhow(const Problem& problem, const RankGrid& grid) {
    const GridPattern pattern = pattern_of(grid);
    std::optional<Placement> best;
    const auto offer = [&](std::optional<Placement> found) {
        if (!found) return;
        if (!best || problem.value(found->slots()) < problem.value(best->slots())) best = std::move(found);
    };
    // A few evenly spaced slots stay empty.
    if (problem.capacity().one_rank_per_slot())
        best = fold_boxes(problem, grid, problem.allocation().slot_count(), {});
    const bool few = problem.rank_count() <= max_weighed;
    if (best && !few) return best;
    offer(halve(problem, pattern, CutChoice::by_shape));
    if (few) offer(halve(problem, pattern, CutChoice::by_cost));
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
        fail("fold: ", format_extents(boxes), " boxes are not the ", slots,
             " that the slots need; the nearest that are is ", format_extents(nearest_extents(boxes, slots)));
    }
}

std::optional<Placement> fold(const Problem& problem, const RankGrid& grid, Wanted wanted, Meter& meter) {
    meter.spend(problem.rank_count());
    const bool alone = problem.capacity().one_rank_per_slot();
    const std::size_t count = alone ? problem.rank_count() : problem.allocation().slot_count();
    const bool anyhow = wanted.boxes.empty();
    if (alone) wanted.boxes = grid.extents;
    if (auto folded = fold_boxes(problem, grid, count, wanted)) return folded;
    if (!anyhow)
        fail("fold: ", format_extents(wanted.boxes), " boxes do not fold onto these slots; leave out boxes");
    if (!wanted.onto.empty())
        fail("fold: the slots are not a complete torus or mesh that onto=", wanted.onto,
             " could lay the grid along; leave out onto");
    return fold_anyhow(problem, grid);
}

}  // namespace

Placement place_fold(const Problem& problem, Meter& meter, const FoldOptions& options) {
    if (!options.onto.empty() && options.grid.empty())
        fail("fold: onto=", options.onto,
             " is for the axes of a grid in their order; name it, as in "
             "fold(grid=64x1024;onto=x+zy)");
    const RankGrid grid = rank_grid(problem, options.grid, "fold");
    check_boxes(problem, grid, options.boxes);
    if (auto folded = fold(problem, grid, {options.boxes, options.reflect, options.onto}, meter))
        return *std::move(folded);
    shared::fail_to_fit();
}

std::optional<Placement> fold_grid(const Problem& problem, const RankGrid& grid, Meter& meter) {
    return fold(problem, grid, {}, meter);
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
