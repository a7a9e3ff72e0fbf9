// SPDX-License-Identifier: BSD-3-Clause
// Two-pointer balancing: one pointer over ranks with a surplus, one over ranks with a deficit.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// Task by task, the first rank with a surplus sends to the first rank with a deficit, as in simulation codes
/// such as QWalk and QMCPACK. Loads end at the floor or ceiling of their mean. Minimizes the number of tasks
/// that move in total, and that of the rank that sends the most; a rank may receive from many ranks.
/// O(ranks).
[[nodiscard]] Plan two_pointer_plan(std::span<const std::int64_t> loads);

}  // namespace topoloom
