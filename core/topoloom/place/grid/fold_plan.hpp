// SPDX-License-Identifier: BSD-3-Clause
// How a grid of ranks is best cut for a machine and folded onto it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/place/grid/grid_boxes.hpp"
#include "topoloom/place/grid/laid_axes.hpp"
#include "topoloom/place/grid/slot_grid.hpp"

namespace topoloom::grid {

struct FoldPlan {
    Extents boxes;                  // along every axis of the grid
    std::vector<Slot> slot_of_box;  // boxes are numbered row-major
    double hop_bytes;               // exact for stars with the same bytes in every message
};

/// What is asked of a plan.
struct FoldTask {
    const RankGrid& grid;
    const SlotGrid& slots;
    std::uint32_t hop_weight;
    std::uint32_t to_routers;  // what messages between routers cost beside hops: the links of their nodes
    bool reflect;
    Extents boxes;  // if they are given; else any, one for every slot
    LaidAxes onto;  // if they are given; else whichever are best
};

/// Of the plans that are tried, the one with the fewest hop-bytes; none where the boxes don't fold onto the machine.
/// Looks at cuts in the order of what they cost at least, until that is more than the best has.
[[nodiscard]] std::optional<FoldPlan> plan_fold(const FoldTask& task);

}  // namespace topoloom::grid
