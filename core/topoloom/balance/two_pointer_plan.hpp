// SPDX-License-Identifier: BSD-3-Clause
// Two-pointer balancing: one pointer over ranks with a surplus, one over ranks with a deficit.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// Task by task, the first rank with a surplus gives to the first with a deficit: what simulation codes such as QWalk and
/// QMCPACK do. Loads end at the floor or ceiling of their mean; the fewest tasks move, and the fewest from one rank; a rank
/// may receive from many. O(ranks).
[[nodiscard]] Plan two_pointer_plan(std::span<const std::int64_t> loads);

}  // namespace topoloom
