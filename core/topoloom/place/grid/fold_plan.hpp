// SPDX-License-Identifier: BSD-3-Clause
// Plans the boxes and the folding of a rank grid on a machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/place/grid/axis_mapping.hpp"
#include "topoloom/place/grid/grid_boxes.hpp"
#include "topoloom/place/grid/slot_grid.hpp"

namespace topoloom::grid {

struct FoldPlan {
    Extents boxes;                  // number of boxes along every axis of the grid
    std::vector<Slot> slot_of_box;  // slot of each box, row-major
    double hop_bytes;               // hop-bytes; exact for star patterns with equal bytes per message
};

/// The input of plan_fold().
struct FoldProblem {
    const RankGrid& grid;
    const SlotGrid& slots;
    std::uint32_t hop_weight;
    std::uint32_t to_routers;  // distance that host links add to messages between routers
    bool reflect;
    Extents boxes;     // boxes along every axis; empty: any number, with one box per slot in all
    AxisMapping onto;  // required mapping of axes; empty: chooses the best one found
};

/// Returns the plan with the fewest hop-bytes among those tried; none if the boxes do not fold onto the
/// machine. Tries cuts in the order of their lower bounds, until the next bound exceeds the best cost.
[[nodiscard]] std::optional<FoldPlan> plan_fold(const FoldProblem& task);

}  // namespace topoloom::grid
