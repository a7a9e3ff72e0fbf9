// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/sparse_bound.hpp"

#include <algorithm>
#include <vector>

#include "topoloom/bound/cuts/partner_profile.hpp"
#include "topoloom/bound/distance_profile.hpp"
#include "topoloom/bound/transport.hpp"

namespace topoloom::bound {

namespace {

constexpr double max_assignment_steps =
    1e9;  // maximum number of steps to assign rank classes to slot classes; takes a second or two
constexpr std::uint32_t max_near = 64;  // number of nearest places that tell slots apart

}  // namespace

std::int64_t sparse_bound(const BoundProblem& problem) {
    const PartnerProfiles partners = partner_profiles(problem.symmetric());
    const DistanceProfiles near = distance_profiles(problem, std::min(partners.max_partners, max_near));
    const auto rows = static_cast<double>(partners.profiles.size());
    const auto columns = static_cast<double>(near.profiles.size());
    if ((rows + columns) * rows * columns > max_assignment_steps) {
        const DistanceProfile best = near.best();
        std::int64_t sum = 0;
        for (std::size_t p = 0; p < partners.profiles.size(); ++p) {
            sum += static_cast<std::int64_t>(partners.ranks[p]) * min_hop_bytes(partners.profiles[p], best);
        }
        return halve_symmetric_bound(sum);
    }
    std::vector<std::int64_t> costs;
    for (const PartnerProfile& profile : partners.profiles) {
        for (const DistanceProfile& around : near.profiles) costs.push_back(min_hop_bytes(profile, around));
    }
    return halve_symmetric_bound(min_transport_cost(costs, partners.ranks, near.capacity));
}

}  // namespace topoloom::bound
