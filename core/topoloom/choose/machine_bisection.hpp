// SPDX-License-Identifier: BSD-3-Clause
// The bisection bandwidth of a machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Bounds of the bisection bandwidth, for both directions together. The bounds are equal if the bisection
/// found is proven minimal.
struct MachineBisection {
    BytesPerSecond at_least;  // lower bound for all halvings, see bisection_lower_bound()
    BytesPerSecond at_most;   // bandwidth of the halving that was found
    std::size_t link_count;   // directed links between the halves that were found

    [[nodiscard]] bool is_exact() const { return at_most.value <= at_least.value * (1 + 1e-9); }
};

/// Bisects the nodes and assigns switches to the better side: across the axes of a grid, in node order, and,
/// if neither is proven minimal, by multilevel partitioning. Deterministic. For a single node, all values are
/// 0.
[[nodiscard]] MachineBisection bisect_machine(const Machine& machine, std::uint64_t seed);

}  // namespace topoloom
