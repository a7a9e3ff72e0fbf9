// SPDX-License-Identifier: BSD-3-Clause
// Star patterns: one hub rank communicates with all other ranks, such as a master with workers.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// The rank that is an endpoint of every edge, if every other rank has exactly one edge. Requires at least
/// three ranks.
[[nodiscard]] std::optional<Rank> find_hub(const CommGraph& symmetric);

struct HubPlacement {
    std::vector<Slot> slots;
    bool optimal;  // whether every slot was tried for the hub
};

/// Tries the hub on every slot, or on evenly spaced ones if there are thousands. The other ranks surround it,
/// those with the most bytes nearest, which is optimal for each hub slot. O(slots log slots) per hub slot.
[[nodiscard]] HubPlacement place_hub(const Problem& problem, Rank hub);

}  // namespace topoloom::structure
