// SPDX-License-Identifier: BSD-3-Clause
// balance_with_few_bytes() without exact search, for what begins with it many times.
#pragma once

#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Of tasks that have been checked.
[[nodiscard]] std::vector<Rank> settle_with_few_bytes(const Tasks& tasks);

}  // namespace topoloom
