// SPDX-License-Identifier: BSD-3-Clause
// How long schedules take where the ranks of a setting are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/strategy/sites.hpp"

namespace topoloom {

/// Seconds of a schedule: of its messages between nodes, by cost() on the machine, and, where nodes have several ranks, of
/// all its messages through the memory of a node besides, as the core has none of these on a machine. Depends on the
/// arguments alone.
[[nodiscard]] double schedule_time(const AnySchedule& schedule, const Sites& sites);

/// The fastest of some schedules, the first of equals. Those that are slower than it by their messages alone are not
/// routed.
[[nodiscard]] const std::string& fastest(const Call& call, const Sites& sites, std::span<const std::string> texts);

}  // namespace topoloom
