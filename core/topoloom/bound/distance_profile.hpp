// SPDX-License-Identifier: BSD-3-Clause
// How many ranks can sit how near to a slot.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// Capacity for `count` ranks within a distance, without the rank on the slot itself.
struct DistanceStep {
    std::uint32_t distance;
    std::uint32_t count;
    friend auto operator<=>(const DistanceStep&, const DistanceStep&) = default;
};

/// Both ascend; the last run has capacity for all others, or for as many as were asked for.
using DistanceProfile = std::vector<DistanceStep>;

struct DistanceProfiles {
    std::vector<DistanceProfile> profiles;  // all different
    std::vector<std::uint32_t> of_slot;     // by position in the allocation
    std::vector<std::uint64_t> capacity;    // by profile: of all slots that have it
    [[nodiscard]] DistanceProfile best()
        const;  // the most capacity within every distance that any of them has
};

/// Of every slot, up to `reach` other ranks. Searched in regions of the network where `reach` is small; else,
/// and where distances come from a table, O(slots^2 * log slots). On all cores.
[[nodiscard]] DistanceProfiles distance_profiles(const BoundProblem& problem, std::uint32_t reach);

}  // namespace topoloom::bound
