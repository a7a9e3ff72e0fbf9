// SPDX-License-Identifier: BSD-3-Clause
// Minimum knapsack cover: the tasks with the fewest bytes whose loads add up to at least a given load.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

struct Cover {
    std::vector<std::uint32_t> tasks;  // all tasks, if even their loads do not add up to the given load
    /// Minimum bytes of any cover or, if the search was cut short, of a fractional cover.
    double least_bytes = 0;
};

/// Runs depth-first branch and bound over tasks in the order of bytes per load, with the bound of the
/// fractional relaxation (Martello, Toth, Knapsack Problems, 1990, 2.5). Skips tasks without load.
[[nodiscard]] Cover cheapest_cover(const Tasks& tasks, std::span<const std::uint32_t> candidates,
                                   double load);

}  // namespace topoloom
