// SPDX-License-Identifier: BSD-3-Clause
// Predicted times of schedules for a cost basis.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/strategy/cost_basis.hpp"

namespace topoloom {

/// By run_cost() on the machine, of data in many more pieces than ranks by stream_cost(). Of other schedules with more than 2^16
/// messages by sampled_cost(), and, if nodes have several ranks, of all messages through the memory of a node besides,
/// as that has none of these. Without a machine, by cost(). Depends on the arguments alone.
[[nodiscard]] ScheduleCost schedule_cost(const AnySchedule& schedule, const CostBasis& basis);

/// The parts of a schedule_cost()'s time, in seconds: starts of messages, their bytes, and what routes, or the network between nodes
/// that several ranks share, add to both.
struct ScheduleParts {
    double starts = 0, bytes = 0, routes = 0;
};

[[nodiscard]] ScheduleParts schedule_parts(const AnySchedule& schedule, const CostBasis& basis);

/// Those that take at most `ratio` times as long as one of them, if routes are left out; in their order.
[[nodiscard]] std::vector<std::string> schedules_within(double ratio, const Call& call,
                                                        const CostBasis& basis,
                                                        std::span<const std::string> texts);

/// The fastest of those that suit, the first of equals. What is slower by its messages alone than one that suits is neither
/// routed nor asked for. Throws Error if none suits.
[[nodiscard]] const std::string& fastest(const Call& call, const CostBasis& basis,
                                         std::span<const std::string> texts,
                                         const std::function<bool(const std::string&)>& suits);

}  // namespace topoloom
