// SPDX-License-Identifier: BSD-3-Clause
// Patches and computes of molecular dynamics: patches by bisection of space, computes in the brick between theirs.
#pragma once

#include <optional>

#include "topoloom/base/option.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::structure {

struct BricksOptions {
    Extents cells;
    bool equally_far = false;

    void visit(auto& field) {
        field("cells", cells, "grid of the patches, which are the first ranks; none: recognized");
        field("computes", equally_far, Choices{"near", "anywhere"},
              "to slots near their patches, or as if all slots but those of their patches were equally far");
    }
};

/// Patches: cells and slots are halved together, see patch_halving.hpp. Computes, the heaviest first: of the slots with
/// capacity left that have the least sum of distances to the two patches the least loaded. These are the inner brick that
/// the patches span, on a torus along the shorter arcs; then the shells around it. A compute of more patches has the box
/// that all of them span as its inner brick. Where patches are CommGraph::proxied(), slots that have one of them already
/// are looked at first: a compute goes there unless the brick adds fewer hop-bytes. `anywhere` is what a balancer does that
/// knows no distances: slots that have most of the patches, else the least loaded one. Source: A. Bhatele, L. V. Kale,
/// Benefits of Topology Aware Mapping for Mesh Interconnects, PPL 18(4), 2008, sec. 5. The threshold is what a slot
/// may hold, see Sharing. Throws Error if the first ranks are not patches and the others no computes of these, if no
/// grid of cells is recognized, and where a compute fits on no slot any more. O(ranks log ranks) where the brick and
/// what is near it have capacity left, or regions rule out what is full.
[[nodiscard]] Placement place_bricks(const Problem& problem, Meter& meter, const BricksOptions& options);

/// place_bricks() if patches and computes are recognized and fit; else none.
[[nodiscard]] std::optional<Placement> place_recognized_bricks(const Problem& problem, Meter& meter);

}  // namespace topoloom::structure
