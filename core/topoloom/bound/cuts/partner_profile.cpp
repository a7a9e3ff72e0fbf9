// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/cuts/partner_profile.hpp"

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

}  // namespace topoloom::bound
