// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/partner_profile.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace topoloom::bound {

PartnerProfiles partner_profiles(const CommGraph& symmetric) {
    PartnerProfiles result;
    std::map<PartnerProfile, std::uint32_t> numbers;
    PartnerProfile profile;
    for (const Rank u : ids<Rank>(symmetric.rank_count())) {
        profile.clear();
        for (const Bytes bytes : symmetric.bytes(u)) {
            if (bytes.value > 0) profile.push_back(bytes.value);
        }
        std::ranges::sort(profile, std::greater());
        profile.insert(profile.begin(), 0);
        for (std::size_t k = 1; k < profile.size(); ++k) profile[k] += profile[k - 1];
        const auto [entry, is_new] = numbers.try_emplace(profile, numbers.size());
        if (is_new) {
            result.profiles.push_back(profile);
            result.ranks.push_back(0);
        }
        result.of_rank.push_back(entry->second);
        ++result.ranks[entry->second];
        result.max_partners = std::max(result.max_partners, static_cast<std::uint32_t>(profile.size() - 1));
    }
    return result;
}

std::int64_t min_hop_bytes(const PartnerProfile& partners, const DistanceProfile& near) {
    std::int64_t sum = 0;
    std::size_t placed = 0;
    std::uint32_t distance = 0;
    for (const DistanceStep& run : near) {
        distance = run.distance;
        const std::size_t now = std::min<std::size_t>(run.count, partners.size() - 1);
        sum += distance * (partners[now] - partners[placed]);
        placed = now;
        if (placed + 1 == partners.size()) return sum;
    }
    // All further partners are at least as far as the last distance of the profile.
    return sum + distance * (partners.back() - partners[placed]);
}

}  // namespace topoloom::bound
