// SPDX-License-Identifier: BSD-3-Clause
// The part of `auto` that minimizes hop-bytes with one rank per slot.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/effort_limits.hpp"

namespace topoloom::portfolio {

/// Tries constructors that suit the problem, then anneals the best placement. Never worse than block order.
[[nodiscard]] Placement minimize_hop_bytes(const Problem& problem, Meter& meter, const EffortLimits& limits);

}  // namespace topoloom::portfolio
