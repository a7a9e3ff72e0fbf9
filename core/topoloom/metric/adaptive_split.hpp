// SPDX-License-Identifier: BSD-3-Clause
// How adaptive routing divides traffic between minimal routes and detours: such that the busiest link carries least.
#pragma once

#include <span>

#include "topoloom/machine/topologies/link.hpp"

namespace topoloom {

/// The share f of all traffic on minimal routes for which the congestion, the max over links of
/// (f * minimal + (1 - f) * detours) / bandwidth, is least; of several such f the largest. Loads are bytes by link id.
/// A model: real routers (UGAL) decide packet by packet from the queues that they see.
[[nodiscard]] double best_minimal_share(std::span<const double> minimal, std::span<const double> detours,
                                        std::span<const LinkRun> runs);

}  // namespace topoloom
