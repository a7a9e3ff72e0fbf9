// SPDX-License-Identifier: BSD-3-Clause
// The bisection of a machine: what the links between its halves carry where these are joined worst.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Both directions are counted together. The bisection bandwidth is from at_least to at_most; the two are the
/// same where the halving that was found is proven to be the worst.
struct MachineBisection {
    BytesPerSecond at_least;  // of any halving, see bisection_lower_bound()
    BytesPerSecond at_most;   // of the halving that was found
    std::size_t link_count;   // directed links between the halves that were found

    [[nodiscard]] bool exact() const { return at_most.value <= at_least.value * (1 + 1e-9); }
};

/// NodeHalves the nodes, and the switches as suits best: across the axes of a grid, in the order of the nodes, and, where
/// none of these is proven to be the worst, by multilevel partitioning. Deterministic. One node has no halves: all 0.
[[nodiscard]] MachineBisection bisect_machine(const Machine& machine, std::uint64_t seed);

}  // namespace topoloom
