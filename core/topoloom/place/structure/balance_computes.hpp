// SPDX-License-Identifier: BSD-3-Clause
// Balances the computes of molecular dynamics from their present slots, by the rule of the source.
#pragma once

#include <variant>

#include "topoloom/base/budget.hpp"
#include "topoloom/place/problem.hpp"
#include "topoloom/place/structure/patch_halving.hpp"

namespace topoloom::structure {

/// Moves computes, heaviest first, ties by rank: each is taken off its present slot and goes to the least
/// loaded slot of the inner brick that has room for it; if there is none, to the first slot with room in the
/// nearest shell around the brick. Proxies are not considered, and no compute stays because it is there.
///
/// The inner brick is the set of slots whose sum of distances to the patches is at most the least one at the
/// slots of the patches themselves: on a torus or mesh, for two patches, the box that they span. Slots of
/// equal sums form a shell. The *first* slot of a shell is the one that the allocation lists first.
///
/// The present slots are those of Problem::migration(). Patches stay there; a patch that has none, or no
/// room, is placed by halve_patches_and_slots(). A compute without a present slot starts on that of its first
/// patch. A compute that fits nowhere is tried again after all others.
///
/// Source: A. Bhatele, L. V. Kale, Benefits of Topology Aware Mapping for Mesh Interconnects, PPL 18(4),
/// 2008, sec. 5. The source states neither the order of a shell nor the threshold; here a slot has room up to
/// its capacity, the average load times 1 + imbalance. Returns a rank that fits on no slot instead of a
/// placement. Takes O(ranks log slots) plus the slots of full bricks and shells.
[[nodiscard]] std::variant<Placement, Rank> balance_computes(const Problem& problem, const Patches& patches,
                                                             Meter& meter);

}  // namespace topoloom::structure
