// SPDX-License-Identifier: BSD-3-Clause
// The bisection bandwidth of a machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Both directions together. at_least and at_most bound the bisection bandwidth; they are equal if the bisection
/// found is proven minimal.
struct MachineBisection {
    BytesPerSecond at_least;  // of any halving, see bisection_lower_bound()
    BytesPerSecond at_most;   // of the halving that was found
    std::size_t link_count;   // directed links between the halves that were found

    [[nodiscard]] bool is_exact() const { return at_most.value <= at_least.value * (1 + 1e-9); }
};

/// Bisects the nodes, and assigns switches to the better side: across the axes of a grid, in the order of the nodes, and, where
/// none of these is proven to be the worst, by multilevel partitioning. Deterministic. One node has no halves: all 0.
[[nodiscard]] MachineBisection bisect_machine(const Machine& machine, std::uint64_t seed);

}  // namespace topoloom
