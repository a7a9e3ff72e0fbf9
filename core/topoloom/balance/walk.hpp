// SPDX-License-Identifier: BSD-3-Clause
// The walk of a pointer over ranks with too many tasks and of another over those with too few.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// Task by task, the first rank with a surplus gives to the first with a deficit: what simulation codes such as QWalk and
/// QMCPACK do. Loads end at the floor or ceiling of their mean; the fewest tasks move, and the fewest from one rank; a rank
/// may receive from many. O(ranks).
[[nodiscard]] Plan walk_plan(std::span<const std::int64_t> loads);

}  // namespace topoloom
