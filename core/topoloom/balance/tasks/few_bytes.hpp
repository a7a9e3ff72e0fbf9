// SPDX-License-Identifier: BSD-3-Clause
// balance_with_few_bytes() without the exact search, as a starting point of other searches.
#pragma once

#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// The tasks must have passed check_tasks().
[[nodiscard]] std::vector<Rank> assign_with_few_bytes(const Tasks& tasks);

}  // namespace topoloom
