// SPDX-License-Identifier: BSD-3-Clause
// Capacity near a slot, by distance.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// Capacity for `count` ranks within a distance, excluding the rank on the slot itself.
struct DistanceStep {
    std::uint32_t distance;
    std::uint32_t count;
    friend auto operator<=>(const DistanceStep&, const DistanceStep&) = default;
};

/// Distances and counts ascend. The last step holds all other ranks, or as many as requested.
using DistanceProfile = std::vector<DistanceStep>;

struct DistanceProfiles {
    std::vector<DistanceProfile> profiles;       // all different
    std::vector<std::uint32_t> of_slot;          // by position in the allocation
    std::vector<std::uint64_t> capacity;         // by profile: of all slots that have it
    [[nodiscard]] DistanceProfile best() const;  // the largest capacity within each distance
};

/// Of every slot, up to `reach` other ranks. Alike slots of a node are searched from once. Where distances come from a
/// table, so are alike nodes of a router, and nodes hold `reach` ranks or O(routers^2); else in regions of the network
/// where `reach` is small, or O(nodes^2). On all cores.
[[nodiscard]] DistanceProfiles distance_profiles(const BoundProblem& problem, std::uint32_t reach);

}  // namespace topoloom::bound
