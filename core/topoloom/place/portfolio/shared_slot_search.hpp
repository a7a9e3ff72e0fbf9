// SPDX-License-Identifier: BSD-3-Clause
// The part of `auto` that places ranks that share slots.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/effort_limits.hpp"

namespace topoloom::portfolio {

/// Minimizes hop-bytes within the capacities of the slots.
[[nodiscard]] Placement minimize_on_shared_slots(const Problem& problem, Meter& meter,
                                                 const EffortLimits& limits);

}  // namespace topoloom::portfolio
