// SPDX-License-Identifier: BSD-3-Clause
// Orders the slots of an allocation along a curve through its nodes.
#pragma once

#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/curves.hpp"

namespace topoloom {

/// The positions of the slots in curve order.
[[nodiscard]] inline std::vector<Position> curve_positions(Curve curve, const Allocation& allocation) {
    std::vector<Position> positions;
    positions.reserve(allocation.slot_count());
    for (const std::uint32_t position : sort_along_curve(curve, allocation)) positions.emplace_back(position);
    return positions;
}

}  // namespace topoloom
