// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing of link loads that moves ranks to the nodes of their peers.
#pragma once

#include <cstdint>

#include "topoloom/place/mapper.hpp"

namespace topoloom::links {

struct PeerExchangeOptions {
    std::uint32_t sweeps = 0;  // proposals per rank
    double heat = 0.05;        // first temperature, in soft values of one busiest link
};

/// Exchanges ranks with ranks or free slots on the nodes of their peers. Unlike the proposals of
/// anneal_links(), no proposal stays inside a node, and all keep a message of the rank inside one. Proposals
/// that raise hop-bytes are accepted only if they lower the soft value, because hop-bytes mean interference
/// with other jobs. Meant for good placements, which higher temperatures would destroy. Never returns a worse
/// placement. Work counts evaluations.
[[nodiscard]] Placement exchange_toward_peers(const Problem& problem, Placement start, Meter& meter,
                                              const PeerExchangeOptions& options);

}  // namespace topoloom::links
