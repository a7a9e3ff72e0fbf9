// SPDX-License-Identifier: BSD-3-Clause
// The alias method along a locality-preserving order of ranks.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// Each rank with a deficit, in turn, receives all its tasks from the rank with a surplus that is nearest in
/// the order; on ties from the earlier one. Senders that fall below their target are served afterwards, in
/// the order in which this happened. Loads end at the floor or ceiling of their mean. O(ranks).
[[nodiscard]] Plan nearest_plan(std::span<const std::int64_t> loads, std::span<const std::uint32_t> order);

}  // namespace topoloom
