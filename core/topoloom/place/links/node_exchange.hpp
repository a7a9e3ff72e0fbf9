// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing of link loads that exchanges all ranks of two nodes at once.
#pragma once

#include <cstdint>

#include "topoloom/place/mapper.hpp"

namespace topoloom::links {

/// Whether there are at least three nodes, with equal numbers of allocated slots, and several slots per node.
[[nodiscard]] bool can_exchange_nodes(const Allocation& allocation);

/// Assigns the groups of ranks that share a node to other nodes, and keeps each group together. The loads of
/// NICs and memory stay the same, so only link loads are annealed, for `time` too. Because a node is one rank
/// of the annealed problem, a sweep costs far less than one of anneal_links(), and accepts changes that no
/// exchange of two ranks reaches. Returns `start` unless can_exchange_nodes(). Never raises congestion, but may
/// raise other objectives slightly: compare keys. `sweeps` counts proposals per node.
[[nodiscard]] Placement exchange_nodes(const Problem& problem, Placement start, Meter& meter,
                                       std::uint32_t sweeps);

}  // namespace topoloom::links
