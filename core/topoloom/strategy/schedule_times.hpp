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

/// Predicts the cost of a schedule. On a machine, uses run_cost(), or stream_cost() if data is in many more
/// pieces than there are ranks. For other schedules with more than 2^16 messages, uses sampled_cost() plus,
/// if nodes have several ranks, the cost of node-local messages, which sampled_cost() ignores. Without a
/// machine, uses cost(). Depends only on the arguments.
[[nodiscard]] ScheduleCost schedule_cost(const AnySchedule& schedule, const CostBasis& basis);

/// The parts of a predicted time, in seconds: message startups, bytes, and routes. The last part includes
/// what is added by sharing the network between the ranks of a node.
struct ScheduleParts {
    double starts = 0, bytes = 0, routes = 0;
};

[[nodiscard]] ScheduleParts predict_schedule_parts(const AnySchedule& schedule, const CostBasis& basis);

/// The schedules whose time without routes is at most `ratio` times the smallest such time, in input order.
[[nodiscard]] std::vector<std::string> select_schedules_within(double ratio, const Call& call,
                                                               const CostBasis& basis,
                                                               std::span<const std::string> texts);

/// The fastest suitable schedule; ties go to the first. Does not compute routes or call suits() for schedules
/// that are slower without routes than a suitable one is with routes. Throws Error if no schedule suits.
[[nodiscard]] const std::string& find_fastest(const Call& call, const CostBasis& basis,
                                              std::span<const std::string> texts,
                                              const std::function<bool(const std::string&)>& suits);

}  // namespace topoloom
