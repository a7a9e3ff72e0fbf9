// SPDX-License-Identifier: BSD-3-Clause
// Exact assignment of few tasks to few ranks.
#pragma once

#include <span>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Finds owners that minimize the load of the busiest rank (loads below the limit count as the limit), then
/// task_cost(), and that respect the memory; returns `start` if none is better. Depth-first branch and bound:
/// exact for about 12 tasks on 4 ranks, cut short for larger problems, skipped for more than 40 tasks. If
/// `start` is empty, the result is empty unless a valid assignment is found.
[[nodiscard]] std::vector<Rank> find_exact_owners(const Tasks& tasks, std::span<const Rank> start);

}  // namespace topoloom
