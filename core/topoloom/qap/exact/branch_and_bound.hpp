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
    std::int64_t lower_bound = 0;  // lower bound; equal to the value unless the search was interrupted
    std::uint64_t nodes = 0;       // number of partial placements visited
};

/// Solves the problem by depth-first branch and bound, starting from a given placement. Bounds are computed
/// by dual ascent; a partial placement inherits the costs of the placement that it extends. Branches over the
/// rank or slot that leaves the least work. Of slots that are equivalent by an automorphism of the distances,
/// tries only one. The result does not depend on the number of threads. Work is the number of rank-slot pairs
/// per sweep. Throws Error unless `start` is a valid placement.
[[nodiscard]] ExactResult branch_and_bound(const QuadraticAssignment& problem,
                                           std::span<const Position> start, Meter& meter, int threads = 0);

/// Estimates the memory in bytes: at each level of the search, the costs of all rank pairs on all slot pairs.
[[nodiscard]] double branch_and_bound_bytes(std::size_t ranks, std::size_t slots);

}  // namespace topoloom::qap
