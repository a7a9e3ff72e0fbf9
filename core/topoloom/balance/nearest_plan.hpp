// SPDX-License-Identifier: BSD-3-Clause
// The alias method along a locality-preserving order of ranks.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// In the order, each rank with a deficit is served in full by the nearest one along it that has a surplus, the earlier of two;
/// those that have given too much are served after them, in the order in which they fell below their share. Loads end at
/// the floor or ceiling of their mean. O(ranks).
[[nodiscard]] Plan nearest_plan(std::span<const std::int64_t> loads, std::span<const std::uint32_t> order);

}  // namespace topoloom
