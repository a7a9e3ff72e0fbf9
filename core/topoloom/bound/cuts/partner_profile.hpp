// SPDX-License-Identifier: BSD-3-Clause
// Bytes that ranks exchange with their heaviest partners.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::bound {

/// [k]: bytes exchanged with the k heaviest partners; [0] is 0.
using PartnerProfile = std::vector<std::int64_t>;

struct PartnerProfiles {
    std::vector<PartnerProfile> profiles;  // all different
    std::vector<std::uint32_t> of_rank;
    std::vector<std::uint64_t> ranks;  // by profile: number of ranks with it
    std::uint32_t max_partners = 0;    // maximum number of partners
};

/// O(edges * log degree).
[[nodiscard]] PartnerProfiles partner_profiles(const CommGraph& symmetric);

}  // namespace topoloom::bound
