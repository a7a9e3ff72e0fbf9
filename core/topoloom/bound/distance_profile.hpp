// SPDX-License-Identifier: BSD-3-Clause
// How many ranks have room within each distance of a slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// A distance, and the number of ranks that have room within it, excluding the rank on the slot itself.
struct DistanceStep {
    std::uint32_t distance;
    std::uint32_t count;
    friend auto operator<=>(const DistanceStep&, const DistanceStep&) = default;
};

/// Distances and counts ascend. The last step counts all other ranks, or as many as requested.
using DistanceProfile = std::vector<DistanceStep>;

struct DistanceProfiles {
    std::vector<DistanceProfile> profiles;       // all different
    std::vector<std::uint32_t> of_slot;          // index of the profile, by position in the allocation
    std::vector<std::uint64_t> capacity;         // by profile: total capacity of the slots with it
    [[nodiscard]] DistanceProfile best() const;  // the maximum capacity within each distance
};

/// Computes the profiles of all slots for up to `reach` other ranks. Equivalent slots share one search. For
/// router tables O(routers^2), unless a node has capacity for `reach` ranks; otherwise searches network
/// regions if `reach` is small, or takes O(nodes^2). Uses all cores.
[[nodiscard]] DistanceProfiles distance_profiles(const BoundProblem& problem, std::uint32_t reach);

/// Minimum hop-bytes of a rank with this PartnerProfile on a slot with this distance profile, reached if the heaviest partners are
/// nearest (rearrangement inequality of Hardy, Littlewood, Polya). O(steps).
[[nodiscard]] std::int64_t min_hop_bytes(std::span<const std::int64_t> partners, const DistanceProfile& near);

}  // namespace topoloom::bound
