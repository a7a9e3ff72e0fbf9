// SPDX-License-Identifier: BSD-3-Clause
// Branch and bound for generalized quadratic assignment: several ranks share a slot, up to its capacity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/qap/exact/branch_and_bound.hpp"

namespace topoloom::qap {

/// A generalized quadratic assignment problem. All matrices are row-major.
struct GeneralizedAssignment {
    std::uint32_t ranks = 0;
    std::uint32_t slots = 0;
    std::vector<std::int64_t> bytes;      // bytes from rank to rank; can be asymmetric
    std::vector<std::int64_t> distances;  // distances from slot to slot; zero diagonal; can be asymmetric
    std::vector<std::int64_t> linear;     // linear costs, ranks by slots; may be empty
    std::vector<std::int64_t> mass;       // by rank
    std::vector<std::int64_t> capacity;   // by slot

    [[nodiscard]] std::int64_t value(std::span<const Position> position_of_rank) const;
};

/// Solves the problem by depth-first branch and bound, starting from a given placement (Lee, Ma, "The
/// Generalized Quadratic Assignment Problem", 2004). The bound of an unplaced rank is the cost to placed
/// ranks plus half of the cost to unplaced ranks if these occupy the nearest slots, heaviest first (Gilmore,
/// Lawler). Of empty slots that are equivalent by an automorphism of distances and capacities, tries only
/// one. Work is the number of rank-slot pairs. `start` must respect the capacities.
[[nodiscard]] ExactResult branch_and_bound(const GeneralizedAssignment& problem,
                                           std::span<const Position> start, Meter& meter);

}  // namespace topoloom::qap
