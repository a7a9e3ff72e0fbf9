// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/cuts/rank_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/bound/cuts/grid_cuts.hpp"
#include "topoloom/bound/cuts/partner_profile.hpp"
#include "topoloom/qap/eigenvalues.hpp"

namespace topoloom::bound {

namespace {

constexpr std::size_t max_ranks_of_matrix = 256;  // takes about 0.05 s
constexpr std::size_t max_cut_steps = std::size_t{1} << 28;

/// [k]: minimum bytes that leave k ranks, which is reached if each has its k - 1 heaviest partners among
/// them.
std::vector<std::int64_t> cuts_by_partners(const PartnerProfiles& partners, std::size_t ranks) {
    std::vector<std::int64_t> cuts(ranks + 1, 0);
    const std::size_t largest = std::min<std::size_t>(
        {partners.max_partners, ranks, max_cut_steps / std::max<std::size_t>(1, ranks)});
    std::vector<std::int64_t> bytes_to_others(ranks);
    for (std::size_t k = 1; k <= largest; ++k) {
        for (std::size_t u = 0; u < ranks; ++u) {
            const PartnerProfile& profile = partners.profiles[partners.of_rank[u]];
            bytes_to_others[u] = profile.back() - profile[std::min(k, profile.size()) - 1];
        }
        const auto end = bytes_to_others.begin() + static_cast<std::ptrdiff_t>(k);
        std::nth_element(bytes_to_others.begin(), end - 1, bytes_to_others.end());
        cuts[k] = std::reduce(bytes_to_others.begin(), end);
    }
    return cuts;
}

double fiedler_value(const CommGraph& symmetric) {
    const std::size_t n = symmetric.rank_count();
    std::vector<double> laplacian(n * n, 0);
    for (const Rank u : ids<Rank>(n)) {
        for (const Edge edge : symmetric.sends(u)) {
            const auto bytes = static_cast<double>(edge.bytes.value);
            laplacian[u.value * n + edge.peer.value] = -bytes;
            laplacian[u.value * n + u.value] += bytes;
        }
    }
    const qap::Eigenvalues found = qap::eigenvalues(n, std::move(laplacian));
    return std::max(0.0, found.values[1] - 2 * found.error);
}

}  // namespace

std::vector<std::int64_t> spectral_cuts(const CommGraph& symmetric) {
    const std::size_t ranks = symmetric.rank_count();
    std::vector<std::int64_t> cuts(ranks + 1, 0);
    if (ranks < 2) return cuts;
    const double value = fiedler_value(symmetric);
    for (std::size_t k = 1; k < ranks; ++k) {
        const double pairs = static_cast<double>(k) * static_cast<double>(ranks - k);
        const double bytes = value * pairs / static_cast<double>(ranks) * (1 - 1e-12);
        cuts[k] = static_cast<std::int64_t>(std::ceil(bytes - 1e-9));
    }
    return cuts;
}

std::vector<std::int64_t> min_cut_bytes(const CommGraph& symmetric, int threads) {
    const std::size_t ranks = symmetric.rank_count();
    std::vector<std::int64_t> cuts = cuts_by_partners(partner_profiles(symmetric), ranks);
    const GridCuts grid = grid_cuts(symmetric, threads);
    for (std::size_t k = 0; k < grid.bytes.size(); ++k) cuts[k] = std::max(cuts[k], grid.bytes[k]);
    if (!grid.is_sharp && ranks <= max_ranks_of_matrix) {
        const std::vector<std::int64_t> spectral = spectral_cuts(symmetric);
        std::ranges::transform(cuts, spectral, cuts.begin(),
                               [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    // The cut around k ranks is also the cut around all other ranks.
    for (std::size_t k = 0; 2 * k <= ranks; ++k)
        cuts[k] = cuts[ranks - k] = std::max(cuts[k], cuts[ranks - k]);
    return cuts;
}

}  // namespace topoloom::bound
