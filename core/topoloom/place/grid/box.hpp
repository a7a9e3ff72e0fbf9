// SPDX-License-Identifier: BSD-3-Clause
// Assigns equal boxes of a rank grid to slots, ignoring distances.
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

/// Cuts the grid into one box for every slot, all equal to within a layer, in the shape of the least surface in bytes;
/// box i, row-major, on slot i of the allocation, as block-distributed arrays do, or on a random slot: the variants of
/// Bhatele, Kale, PPL 18(4), 2008, that keep neighbors together but not near. O(ranks log ranks).
[[nodiscard]] Placement place_box(const Problem& problem, Meter& meter, const BoxOptions& options);

/// place_box() for a known grid; none if the ranks do not fit.
[[nodiscard]] std::optional<Placement> box_grid(const Problem& problem, const RankGrid& grid, Meter& meter);

}  // namespace topoloom::grid
