// SPDX-License-Identifier: BSD-3-Clause
// What ranks exchange with their partners, the heaviest first, and what that costs at least beside a slot.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/bound/distance_profile.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::bound {

/// [k]: bytes exchanged with the k heaviest partners together; from 0.
using PartnerProfile = std::vector<std::int64_t>;

struct PartnerProfiles {
    std::vector<PartnerProfile> profiles;  // all different
    std::vector<std::uint32_t> of_rank;
    std::vector<std::uint64_t> ranks;  // by profile: how many have it
    std::uint32_t max_partners = 0;    // that bytes are exchanged with
};

/// O(edges * log degree).
[[nodiscard]] PartnerProfiles partner_profiles(const CommGraph& symmetric);

/// Hop-bytes of a rank's messages if its heaviest partners sit nearest: no slot with this profile does better (Hardy,
/// Littlewood, Polya on rearrangements). O(runs).
[[nodiscard]] std::int64_t min_hop_bytes(const PartnerProfile& partners, const DistanceProfile& near);

}  // namespace topoloom::bound
