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
    std::size_t with_one_more = 0;  // ranks with a target at the ceiling; 0 if all are equal
};

/// Throws Error if there are no ranks, a load is negative, or their sum is 2^62 or more.
[[nodiscard]] EvenLoad even_load(std::span<const std::int64_t> loads);

/// Minimizes the ranks that move tasks, and the tasks that move. The ceiling goes first to ranks at it, then to those above
/// it, below the floor, and at the floor; lowest ranks first.
[[nodiscard]] std::vector<std::int64_t> target_loads(std::span<const std::int64_t> loads);
/// By rank: target_loads() minus the floor.
[[nodiscard]] std::vector<std::uint8_t> target_extras(std::span<const std::int64_t> loads);

/// The most loaded ranks get the ceiling, the lowest of equal ones first. Minimizes the tasks that move in total, and from
/// the rank that sends most.
[[nodiscard]] std::vector<std::int64_t> targets_by_load(std::span<const std::int64_t> loads);

}  // namespace topoloom
