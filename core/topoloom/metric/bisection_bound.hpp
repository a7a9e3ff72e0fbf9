// SPDX-License-Identifier: BSD-3-Clause
// Lower bound on the bisection bandwidth of a machine.
#pragma once

#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Numbers of nodes in the two halves of a machine, without nodes that are down. The counts differ by at most
/// the nodes of one router.
struct NodeHalves {
    std::uint64_t larger;
    std::uint64_t smaller;
};

[[nodiscard]] NodeHalves halve_nodes(const Machine& machine);

/// Returns a lower bound on the bandwidth between any two halves of the nodes, summed over both directions.
/// Nodes of a router are in the same half.
///
/// The bound is proven by a flow that the network supports. If all pairs of nodes can exchange x bytes/s at
/// once, then 2 * larger * smaller * x bytes/s cross the cut. If every node can exchange x bytes/s with any
/// partner at once, then 2 * smaller * x bytes/s cross the cut. Uses a formula if one is known, otherwise the
/// machine's routes. Returns 0 if failures disconnect nodes, and for machines of more than about 2,000
/// routers for which no formula is known. Source: Leighton, Introduction to Parallel Algorithms and
/// Architectures, 1992, section 1.9.
[[nodiscard]] BytesPerSecond bisection_lower_bound(const Machine& machine);

}  // namespace topoloom
