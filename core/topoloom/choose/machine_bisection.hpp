// SPDX-License-Identifier: BSD-3-Clause
// The bisection bandwidth of a machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// A lower and an upper bound of the bisection bandwidth, for both directions together. They are equal if the
/// bisection found is proven minimal.
struct MachineBisection {
    BytesPerSecond at_least;  // lower bound for all halvings, see bisection_lower_bound()
    BytesPerSecond at_most;   // upper bound: bandwidth of the best halving found
    std::size_t link_count;   // number of directed links between the halves found

    [[nodiscard]] bool is_exact() const { return at_most.value <= at_least.value * (1 + 1e-9); }
};

/// Bisects the nodes and assigns switches to the better side. Tries cuts across the axes of a grid, cuts in
/// node order, and, if none of these is proven minimal, multilevel partitioning. Deterministic. For a single
/// node, all values are 0.
[[nodiscard]] MachineBisection bisect_machine(const Machine& machine, std::uint64_t seed);

}  // namespace topoloom
