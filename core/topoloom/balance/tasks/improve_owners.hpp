// SPDX-License-Identifier: BSD-3-Clause
// Improves owners by moving single tasks and swapping pairs; for few large tasks.
#pragma once

#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Owners within the memory, improved: while the busiest rank is above the limit, it gives a task, or swaps one for a lighter one,
/// such that neither rank has as much as it had. Then tasks go home, or swap places with one that is there, where that moves fewer
/// bytes and makes no rank busier. About O(tasks ranks) per step; ends after some 10^7.
[[nodiscard]] std::vector<Rank> improve_owners(const Tasks& tasks, std::vector<Rank> owners);

}  // namespace topoloom
