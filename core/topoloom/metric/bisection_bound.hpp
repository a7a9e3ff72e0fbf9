// SPDX-License-Identifier: BSD-3-Clause
// Lower bound on the bisection bandwidth of a machine.
#pragma once

#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Node counts of the two halves of a machine, without nodes that are down. They differ by at most the nodes of one
/// router.
struct NodeHalves {
    std::uint64_t larger;
    std::uint64_t smaller;
};

[[nodiscard]] NodeHalves halve_nodes(const Machine& machine);

/// Lower bound on the bandwidth, both directions together, between any two halves of the nodes; nodes stay with their
/// routers.
///
/// The proof is a flow that the network supports. If all pairs can exchange x bytes/s at once, 2 x larger x smaller
/// of them cross the cut. If every node can exchange x with any partner at once, 2 x smaller cross. Uses a formula
/// if one is known, otherwise the machine's routes. Returns 0 beyond about 2,000 routers, and if failures
/// disconnect nodes. Leighton, Introduction to Parallel Algorithms and Architectures, 1992, section 1.9.
[[nodiscard]] BytesPerSecond bisection_lower_bound(const Machine& machine);

}  // namespace topoloom
