// SPDX-License-Identifier: BSD-3-Clause
// Improves owners by moving single tasks and swapping pairs, for few large tasks.
#pragma once

#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Improves owners within the memory. While the busiest rank is above the limit, it moves a task or swaps it
/// for a lighter one, such that both ranks stay below its former load. Then tasks return to their owners, or
/// swap with a task there, if this reduces the moved bytes and the maximum load does not rise. About O(tasks
/// ranks) per step; stops after some 10^7 examined changes.
[[nodiscard]] std::vector<Rank> improve_owners(const Tasks& tasks, std::vector<Rank> owners);

}  // namespace topoloom
