// SPDX-License-Identifier: BSD-3-Clause
// Exact solution of quadratic assignment by branch and bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/qap/quadratic_assignment.hpp"

namespace topoloom::qap {

struct ExactResult {
    std::vector<Position> position_of_rank;
    std::int64_t value = 0;
    std::int64_t lower_bound = 0;  // equal to the value unless the search was interrupted
    std::uint64_t nodes = 0;       // partial placements visited
};

/// Depth-first branch and bound from a given placement on, with bounds by dual ascent that a partial placement inherits
/// from the one it extends, branching over the rank or slot that leaves the least to do; slots that an automorphism of
/// the distances maps on each other are tried once. Same result for any number of threads. Work is counted in pairs of
/// ranks and slots, per sweep. Throws Error unless `start` is a placement.
[[nodiscard]] ExactResult branch_and_bound(const QuadraticAssignment& problem,
                                           std::span<const Position> start, Meter& meter, int threads = 0);

/// Estimated memory in bytes: costs of all rank pairs on all slot pairs, for each level of the search.
[[nodiscard]] double branch_and_bound_bytes(std::size_t ranks, std::size_t slots);

}  // namespace topoloom::qap
