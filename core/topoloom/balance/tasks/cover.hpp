// SPDX-License-Identifier: BSD-3-Clause
// Minimum knapsack cover: the tasks with the fewest bytes whose loads add up to a given load.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

struct Cover {
    std::vector<std::uint32_t> tasks;  // all of them where they do not make up the load
    double least_bytes =
        0;  // that any have which do; if the search was cut short, if parts of tasks could be taken
};

/// Depth-first branch and bound over tasks in the order of bytes per load, with the bound of parts of tasks (Martello, Toth,
/// Knapsack Problems, 1990, 2.5). Of tasks without a load none is taken.
[[nodiscard]] Cover cheapest_cover(const Tasks& tasks, std::span<const std::uint32_t> held, double load);

}  // namespace topoloom
