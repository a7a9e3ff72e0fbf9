// SPDX-License-Identifier: BSD-3-Clause
// Target loads: the floor or the ceiling of the mean load.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// The most even integer loads.
struct EvenLoad {
    std::int64_t floor = 0;
    std::int64_t ceiling = 0;
    // Number of ranks with a target at the ceiling; 0 if all targets are equal.
    std::size_t ranks_at_ceiling = 0;
};

/// Throws Error if there are 0 ranks, a load is negative, or the loads add up to 2^62 or more.
[[nodiscard]] EvenLoad compute_even_load(std::span<const std::int64_t> loads);

/// Minimizes the number of ranks that send or receive tasks, and the number of tasks that move. The ceiling
/// is assigned to ranks already at the ceiling, then to ranks above it, below the floor, and at the floor;
/// among equals, lowest ranks first.
[[nodiscard]] std::vector<std::int64_t> target_loads(std::span<const std::int64_t> loads);
/// target_loads() minus the floor, by rank.
[[nodiscard]] std::vector<std::uint8_t> target_extras(std::span<const std::int64_t> loads);

/// Assigns the ceiling to the most loaded ranks; on ties to the lowest ones. Minimizes the number of tasks
/// that move in total, and that of the rank that sends the most.
[[nodiscard]] std::vector<std::int64_t> targets_by_load(std::span<const std::int64_t> loads);

}  // namespace topoloom
