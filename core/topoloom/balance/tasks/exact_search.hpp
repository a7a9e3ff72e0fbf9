// SPDX-License-Identifier: BSD-3-Clause
// Exact search for few tasks on few ranks.
#pragma once

#include <span>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Owners with the least load of the busiest rank, down to the limit, then the least task_cost(), within the memory: `start`, or
/// better ones. Depth-first branch and bound, which is exact where some 12 tasks are on 4 ranks; cut short beyond, and of more
/// than 40 tasks left out. An empty `start`: none is known; the result is empty where none is found, either.
[[nodiscard]] std::vector<Rank> search_exactly(const Tasks& tasks, std::span<const Rank> start);

}  // namespace topoloom
