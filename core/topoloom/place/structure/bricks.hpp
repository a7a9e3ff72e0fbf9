// SPDX-License-Identifier: BSD-3-Clause
// Places patches and computes of molecular dynamics: patches by bisection of space, computes in the brick
// between their patches.
#pragma once

#include <optional>

#include "topoloom/base/option.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::structure {

struct BricksOptions {
    Extents cells;
    bool equally_far = false;
    bool like_source = false;

    void visit(auto& field) {
        field("cells", cells, "grid of the patches, which are the first ranks; none: recognized");
        field("computes", equally_far, Choices{"near", "anywhere"},
              "to slots near their patches, or as if all slots but those of their patches were equally far");
        field("choose", like_source, Choices{"proxies", "source"},
              "prefer slots with proxies, or, as the paper: ignore proxies, start from earlier slots");
    }
};

/// Places patches by halving cells and slots together, see patch_halving.hpp. Then places computes, heaviest
/// first. Among the slots with enough capacity and the smallest sum of distances to its two patches, a
/// compute goes to the least loaded one. The slots with the smallest sum are the brick that the patches span
/// (on a torus, along the shorter arcs), then the shells around it. For a compute of more than two patches,
/// the brick spans all of them.
///
/// If patches are CommGraph::proxied(), a slot that already has a proxy of one of them is preferred, unless
/// the brick adds fewer hop-bytes. `anywhere` models a balancer that ignores distances: it uses the slot with
/// most of the patches or, if none has any, the least loaded slot.
///
/// `source` ignores proxies and starts from the earlier placement, see balance_computes.hpp.
///
/// Source: A. Bhatele, L. V. Kale, Benefits of Topology Aware Mapping for Mesh Interconnects, PPL 18(4),
/// 2008, sec. 5. The load threshold of the source is the slot capacity here, see Sharing. Throws Error if the
/// ranks are not patches followed by their computes, if no grid of cells is recognized, if a compute fits on
/// no slot, and for `source` with `anywhere`. Takes O(ranks log ranks) if the brick or slots near it have spare capacity, or if full regions
/// can be pruned.
[[nodiscard]] Placement place_bricks(const Problem& problem, Meter& meter, const BricksOptions& options);

/// The result of place_bricks() if patches and computes are recognized and fit; else none.
[[nodiscard]] std::optional<Placement> place_recognized_bricks(const Problem& problem, Meter& meter);

}  // namespace topoloom::structure
