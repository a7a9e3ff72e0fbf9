// SPDX-License-Identifier: BSD-3-Clause
// What the links between two halves of a machine carry at least, however it is halved.
#pragma once

#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// How many nodes the halves of a machine have, without those that are down; they differ by one router's at most.
struct NodeHalves {
    std::uint64_t larger;
    std::uint64_t smaller;
};

[[nodiscard]] NodeHalves halve_nodes(const Machine& machine);

/// A lower limit on the bandwidth, of both directions together, of the links between any two halves of the nodes, which
/// go with their routers.
///
/// Traffic that the network can carry proves it: where all pairs can exchange x bytes/s at once, 2 x larger x
/// smaller of them cross; where every node can exchange x with a partner at once, whoever that is, 2 x smaller do.
/// From formulas where there is one, else from the machine's routes; 0 where those are too many, beyond some
/// 2,000 routers, or where failures leave nodes without a route between them. Leighton, Introduction to Parallel
/// Algorithms and Architectures, 1992, section 1.9.
[[nodiscard]] BytesPerSecond bisection_lower_bound(const Machine& machine);

}  // namespace topoloom
