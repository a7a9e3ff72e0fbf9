// SPDX-License-Identifier: BSD-3-Clause
// Star patterns: one hub rank communicates with all other ranks, such as a master with workers.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// The rank that is an endpoint of every edge, if every other rank has exactly one edge; none for fewer than
/// three ranks.
[[nodiscard]] std::optional<Rank> find_hub(const CommGraph& symmetric);

struct HubPlacement {
    std::vector<Slot> slots;
    bool optimal;  // whether the hub was tried on every slot
};

/// Tries the hub on every slot, or on evenly spaced ones if there are thousands. Puts the other ranks around
/// it, those with the most bytes nearest, which is optimal for a given slot of the hub. O(slots log slots)
/// per hub slot.
[[nodiscard]] HubPlacement place_hub(const Problem& problem, Rank hub);

}  // namespace topoloom::structure
