// SPDX-License-Identifier: BSD-3-Clause
// The part of `auto` that minimizes an objective on links: congestion, time, or a mix.
#pragma once

#include <cstdint>

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/effort_limits.hpp"

namespace topoloom::portfolio {

/// The number of links that a message visits, relative to the usual number; at least 1. Large if messages are
/// split over many paths.
[[nodiscard]] double estimate_route_length(const Allocation& allocation);

/// The number of sweeps that take `tenths` tenths of the standard annealing time, for routes of this relative
/// length.
[[nodiscard]] std::uint32_t choose_annealing_sweeps(const Problem& problem, double length,
                                                    std::uint64_t tenths);

/// Minimizes an objective on links. For few ranks, starts with the best placement by hop-bytes, because short
/// routes share few links, and with other placements, and anneals the link loads. For many ranks, exchanges
/// the nodes of several starts; see links::exchange_nodes(). Unless the budget is limited, an effort first runs
/// the lower ones. `limits` must be an entry of `effort_limits`.
[[nodiscard]] Placement minimize_link_objective(const Problem& problem, Meter& meter,
                                                const EffortLimits& limits);

}  // namespace topoloom::portfolio
