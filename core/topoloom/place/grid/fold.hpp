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

/// Cuts the grid into one box per slot, in the shape with the fewest hop-bytes. Axes of the grid map to axes
/// of a torus or mesh; long axes are split over several, and short ones share one. The box of a node is split
/// among its sockets and cores; a tree is split from the top. If every rank has a slot, boxes are single
/// cells.
/// Shapes are compared by exact hop counts, so on a machine with the shape of the grid every step is one hop.
///
/// If the allocation is ragged or the grid does not fit it, both are halved together instead. O(ranks log
/// ranks). `onto` fixes the folding: a plane x+zy has its short axis along x, its long axis along the planes
/// of z, and along y inside each plane. Bhatele, Kale, Benefits of Topology Aware Mapping for Mesh
/// Interconnects, PPL 18(4), 2008, sec. 4: their foldings of a plane onto a torus have no reflection and are
/// x+zy with y inside.
[[nodiscard]] Placement place_fold(const Problem& problem, Meter& meter, const FoldOptions& options);

/// place_fold() for a known grid, with default options; none if the ranks do not fit.
[[nodiscard]] std::optional<Placement> place_grid_by_folding(const Problem& problem, const RankGrid& grid,
                                                             Meter& meter);

}  // namespace topoloom::grid
