// SPDX-License-Identifier: BSD-3-Clause
// Splitting a weighted graph in two: multilevel, with Fiduccia-Mattheyses refinement and exact capacities.
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
    std::uint32_t starts = 4;  // first splits of the coarsest graph
    std::uint32_t passes = 2;  // of refinement at every level, at most
    std::uint32_t cycles = 0;  // how often the result is coarsened and refined again
    /// A split in the order of the numbers is tried too if it cuts at most this many times as much; 0: however bad.
    std::uint32_t order_limit = 0;
    std::uint32_t window = 0;  // of coarsening, see coarsen()
};

/// A split in two sides, 0 and 1, and what it costs: the weight of the edges between the sides, and for every vertex on
/// side 1 its bias.
struct Bisection {
    std::vector<char> side;
    std::int64_t cost = 0;
    std::int64_t excess = 0;  // mass beyond the capacities; 0 wherever unit masses make that possible
    std::uint64_t work = 0;   // moves evaluated
};

/// `bias[v]` is what v costs more on side 1 than on side 0; empty: nothing. The capacities must hold all
/// mass. When the clock runs out, it ends early with a split that keeps to capacities as well; it spends no
/// work. The result is the same for any number of threads. Karypis, Kumar, SIAM J. Sci. Comput. 20 (1998);
/// Fiduccia, Mattheyses, DAC 1982. About O(edges).
[[nodiscard]] Bisection bisect(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                               std::array<std::int64_t, 2> capacity, const BisectionOptions& options, Rng rng,
                               Meter* clock = nullptr, int threads = 1);

/// Refines a given split on this graph alone, without coarsening; never worse.
[[nodiscard]] Bisection refine_bisection(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                                         std::array<std::int64_t, 2> capacity, const std::vector<char>& side,
                                         std::uint32_t passes);

/// The sides as parts 0 and 1.
[[nodiscard]] std::vector<Part> parts_of_sides(std::span<const char> side);

}  // namespace topoloom::partition
