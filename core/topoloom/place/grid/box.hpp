// SPDX-License-Identifier: BSD-3-Clause
// Assigns equal boxes of a rank grid to slots and ignores distances.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

struct BoxOptions : GridOptions {
    bool random = false;
    void visit(auto& field) {
        GridOptions::visit(field);
        field("slots", random, Choices{"in-order", "random"}, "box i on slot i, or each on a random slot");
    }
};

/// Cuts the grid into one box per slot. Boxes differ by at most one layer per axis; their shape is the one
/// whose surface the fewest bytes cross. Box i (row-major) goes to slot i of the allocation, as in
/// block-distributed arrays, or to a random slot. Bhatele, Kale, PPL 18(4), 2008, have both variants; they
/// group neighbors without regard to distance. O(ranks log ranks).
[[nodiscard]] Placement place_box(const Problem& problem, Meter& meter, const BoxOptions& options);

/// place_box() for a known grid; none if the ranks do not fit.
[[nodiscard]] std::optional<Placement> place_grid_in_boxes(const Problem& problem, const RankGrid& grid,
                                                           Meter& meter);

}  // namespace topoloom::grid
