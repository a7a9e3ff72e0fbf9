// SPDX-License-Identifier: BSD-3-Clause
// Placements along space-filling curves: ranks by number, or along the same curve through their own grid.
#pragma once

#include "topoloom/machine/allocations/curves.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom {

struct CurveOptions {
    std::uint32_t ranks = 0;
    Extents grid;
    void visit(auto& field) {
        field("ranks", ranks, Choices{"by-number", "by-curve"},
              "their order: as numbered, or along the curve through the grid that they form");
        field("grid", grid,
              "order ranks along the curve through this grid; none: recognized where asked for");
    }
};

/// The i-th rank on the i-th slot along the curve through the slots; shared slots are filled in this order.
/// O(ranks log ranks).
[[nodiscard]] Placement place_along(Curve curve, const Problem& problem, Meter& meter,
                                    const CurveOptions& options);

template <Curve curve>
[[nodiscard]] Placement place_curve(const Problem& problem, Meter& meter, const CurveOptions& options) {
    return place_along(curve, problem, meter, options);
}

}  // namespace topoloom
