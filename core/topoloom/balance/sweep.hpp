// SPDX-License-Identifier: BSD-3-Clause
// The alias method in an order that prefix sums find, so that ranks can decide without knowing all loads.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// As alias_plan(), but a rank that has given so much that it falls below its share is served next, not last. Then the giver of a
/// rank follows from the sums of surplus and deficit before it: the i-th receiver is served by the first giver up to which the
/// surplus is more than the deficit before i. The final loads are target_loads(); no rank receives from two, gives what
/// it did not hold, or receives more than the largest deficit. At most one message fewer than ranks that are not at
/// their end. O(ranks). Source: the order is that of Hübschle-Schneider, Sanders, "Parallel Weighted Random Sampling"
/// (ESA 2019).
[[nodiscard]] Plan sweep_plan(std::span<const std::int64_t> loads);

}  // namespace topoloom
