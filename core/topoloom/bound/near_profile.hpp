// SPDX-License-Identifier: BSD-3-Clause
// How many ranks can sit how near to a slot.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom::bound {

/// Capacity for `count` ranks within a distance, without the rank on the slot itself.
struct NearRun {
    std::uint32_t distance;
    std::uint32_t count;
    friend auto operator<=>(const NearRun&, const NearRun&) = default;
};

/// Both ascend; the last run has capacity for all others, or for as many as were asked for.
using NearProfile = std::vector<NearRun>;

struct NearProfiles {
    std::vector<NearProfile> profiles;       // all different
    std::vector<std::uint32_t> of_slot;      // by position in the allocation
    std::vector<std::uint64_t> capacity;     // by profile: of all slots that have it
    [[nodiscard]] NearProfile best() const;  // the most capacity within every distance that any of them has
};

/// Of every slot, up to `reach` other ranks. Alike slots of a node are searched from once. Where distances come from a
/// table, so are alike nodes of a router, and nodes hold `reach` ranks or O(routers^2); else in regions of the network
/// where `reach` is small, or O(nodes^2). On all cores.
[[nodiscard]] NearProfiles near_profiles(const BoundProblem& problem, std::uint32_t reach);

}  // namespace topoloom::bound
