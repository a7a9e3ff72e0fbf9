// SPDX-License-Identifier: BSD-3-Clause
// The part of `auto` that minimizes hop-bytes with one rank per slot.
#pragma once

#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::portfolio {

/// Tries constructors that suit the problem, anneals the most promising placements briefly and the best of
/// them for long. A higher effort runs the steps of all lower ones, so it never loses to them. Never worse
/// than block order.
[[nodiscard]] Placement minimize_hop_bytes(const Problem& problem, Meter& meter, Effort effort);

}  // namespace topoloom::portfolio
