// SPDX-License-Identifier: BSD-3-Clause
// Folds a rank grid onto the machine: boxes to routers, nodes and cores.
#pragma once

#include <string>

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::grid {

struct FoldOptions : GridOptions {
    Extents boxes;
    bool reflect = true;
    std::string onto;
    void visit(auto& field) {
        GridOptions::visit(field);
        field("boxes", boxes,
              "shared slots: boxes along every axis, one per slot; none: those of fewest hop-bytes");
        field("reflect", reflect, Choices{"no", "yes"},
              "run every other fold backwards, so that no step jumps");
        field("onto", onto,
              "axes of the torus for each axis of `grid`, the slowest first, such as x+zy; none: the best");
    }
};

/// Cuts the grid into one box for every slot, in the shape that has the fewest hop-bytes: axes of the grid go to axes of
/// a torus or mesh, long ones are split over several and short ones share one; the box of a node is split among its
/// sockets and cores; a tree is cut from the top. With a slot for every rank, boxes are single cells. Exact counts of
/// hops decide, so on a machine of the grid's own shape every step is one hop. Where the allocation is ragged, or the
/// grid does not fit it, both are halved side by side instead. O(ranks log ranks).
/// With `onto` it searches no foldings: a plane x+zy has its short axis along x, its long one along the planes of z and
/// inside each plane along y.
/// Bhatele, Kale, Benefits of Topology Aware Mapping for Mesh Interconnects, PPL 18(4), 2008, sec. 4: their foldings of
/// a plane onto a torus are those without reflection, x+zy with y inside.
[[nodiscard]] Placement place_fold(const Problem& problem, Meter& meter, const FoldOptions& options);

/// place_fold() for a known grid, with default options; none if the ranks do not fit.
[[nodiscard]] std::optional<Placement> fold_grid(const Problem& problem, const RankGrid& grid, Meter& meter);

}  // namespace topoloom::grid
