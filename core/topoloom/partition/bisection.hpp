// SPDX-License-Identifier: BSD-3-Clause
// Multilevel bisection of weighted graphs with Fiduccia-Mattheyses refinement and exact capacities.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::partition {

struct BisectionOptions {
    std::uint32_t starts = 4;  // initial bisections of the coarsest graph
    std::uint32_t passes = 2;  // maximum refinement passes per level
    std::uint32_t cycles = 0;  // V-cycles after the first
    /// Also refines the split by vertex number, if its cut is at most this many times that of the split
    /// found; 0: always.
    std::uint32_t order_limit = 0;
    std::uint32_t window = 0;  // see coarsen()
};

/// A bisection and its cost: the total weight of cut edges plus the total bias of vertices on side 1.
struct Bisection {
    std::vector<char> side;
    std::int64_t cost = 0;
    std::int64_t excess = 0;  // mass beyond the capacities; always 0 if all masses are 1
    std::uint64_t work = 0;   // moves evaluated
};

/// `bias[v]` is the additional cost of v on side 1; empty: no costs. The capacities must sum to at least the
/// total mass. If the clock runs out, returns early with a bisection that respects the capacities. Charges no
/// work to the clock. The result does not depend on the number of threads. Karypis, Kumar, SIAM J. Sci.
/// Comput. 20 (1998); Fiduccia, Mattheyses, DAC 1982. About O(edges).
[[nodiscard]] Bisection bisect(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                               std::array<std::int64_t, 2> capacity, const BisectionOptions& options, Rng rng,
                               Meter* clock = nullptr, int threads = 1);

/// Refines a bisection without coarsening. Never returns a worse one.
[[nodiscard]] Bisection refine_bisection(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                                         std::array<std::int64_t, 2> capacity, const std::vector<char>& side,
                                         std::uint32_t passes);

/// Converts the sides of vertices to parts 0 and 1.
[[nodiscard]] std::vector<Part> parts_of_sides(std::span<const char> side);

}  // namespace topoloom::partition
