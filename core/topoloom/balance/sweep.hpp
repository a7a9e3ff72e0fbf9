// SPDX-License-Identifier: BSD-3-Clause
// The alias method in an order given by prefix sums, so that ranks can compute their moves without knowing
// all loads.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// Like alias_plan(), but a sender that falls below its target is served next rather than last. The sender of
/// a rank then follows from the sums of surplus and deficit before it: receiver i is served by the first
/// sender for which the surplus up to and including it exceeds the deficit before receiver i. The final loads
/// are target_loads(). No rank receives from two ranks, receives more than the largest deficit, or sends
/// tasks that it did not have. The number of messages is less than the number of ranks that are not at their
/// target. O(ranks). Source of the order: Hübschle-Schneider, Sanders, "Parallel Weighted Random Sampling"
/// (ESA 2019).
[[nodiscard]] Plan sweep_plan(std::span<const std::int64_t> loads);

}  // namespace topoloom
