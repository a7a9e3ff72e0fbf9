// SPDX-License-Identifier: BSD-3-Clause
// Star patterns: a hub that communicates with all other ranks, such as a master with workers.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// The rank that is an end of every edge, if each other rank is an end of exactly one. At least three ranks.
[[nodiscard]] std::optional<Rank> find_hub(const CommGraph& symmetric);

struct HubPlacement {
    std::vector<Slot> slots;
    bool optimal;  // every slot was tried for the hub
};

/// The hub on each slot in turn, or on an evenly spaced choice of them if there are thousands, and the others around
/// it, those with the most bytes nearest, which is the best that can be done for that slot. O(slots log slots) for
/// each.
[[nodiscard]] HubPlacement place_hub(const Problem& problem, Rank hub);

}  // namespace topoloom::structure
