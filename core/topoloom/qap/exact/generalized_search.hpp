// SPDX-License-Identifier: BSD-3-Clause
// Branch and bound for generalized quadratic assignment: slots hold several ranks, up to a capacity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/qap/exact/branch_and_bound.hpp"

namespace topoloom::qap {

/// Every matrix is row-major.
struct GeneralizedAssignment {
    std::uint32_t ranks = 0;
    std::uint32_t slots = 0;
    std::vector<std::int64_t> bytes;      // from rank to rank; need not be symmetric
    std::vector<std::int64_t> distances;  // from slot to slot, 0 to itself; need not be symmetric
    std::vector<std::int64_t> linear;     // rank by slot; may be empty
    std::vector<std::int64_t> mass;       // by rank
    std::vector<std::int64_t> capacity;   // by slot

    [[nodiscard]] std::int64_t value(std::span<const Position> position_of_rank) const;
};

/// Depth-first branch and bound from a given placement on (Lee, Ma, "The Generalized Quadratic Assignment Problem",
/// 2004): a rank that is not yet placed costs at least what its bytes to placed ranks cost, and half of what those to
/// the others do if they take the nearest slots, heaviest first (Gilmore, Lawler). Of empty slots that an automorphism
/// of distances and capacities maps on each other one is tried. Work is counted in pairs of ranks and slots. `start`
/// must keep the capacities.
[[nodiscard]] ExactResult branch_and_bound(const GeneralizedAssignment& problem,
                                           std::span<const Position> start, Meter& meter);

}  // namespace topoloom::qap
