// SPDX-License-Identifier: BSD-3-Clause
// Adaptive routing as an optimal split of traffic between minimal routes and detours.
#pragma once

#include <span>

#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// Returns the share f of traffic on minimal routes that minimizes congestion, which is the maximum over
/// links of (f * minimal + (1 - f) * detours) / bandwidth. If several shares are optimal, returns the
/// largest. Loads are bytes by link id. This is a model: real routers (UGAL) decide per packet from local
/// queue lengths.
[[nodiscard]] double best_minimal_share(std::span<const double> minimal, std::span<const double> detours,
                                        std::span<const LinkRun> runs);

}  // namespace topoloom
