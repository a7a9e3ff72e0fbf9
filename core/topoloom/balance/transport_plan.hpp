// SPDX-License-Identifier: BSD-3-Clause
// Plans with the fewest task-hops and a limit on the number of senders per receiver.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/balancer.hpp"

namespace topoloom {

/// Default maximum number of senders per receiver; with at most one, a third more tasks would move.
inline constexpr std::uint32_t default_receive_limit = 2;

/// Ships surplus to deficits by the cheapest transport or, in larger problems, by match_near() along a
/// locality-preserving order. Then applies limit_receives() unless `receives` is 0. Loads end at the floor or
/// ceiling of their mean, in one round and with at most ranks - 1 messages.
[[nodiscard]] Plan transport_plan(const BalanceProblem& problem, std::span<const std::uint32_t> order,
                                  std::uint32_t receives);

/// Computes a plan for each of these limits from a single transport.
[[nodiscard]] std::vector<Plan> transport_plans(const BalanceProblem& problem,
                                                std::span<const std::uint32_t> order,
                                                std::span<const std::uint32_t> receives);

/// The sum over all moves of tasks times distance: hop-bytes for tasks of one byte.
[[nodiscard]] double count_task_hops(const BalanceProblem& problem, const Plan& plan);

}  // namespace topoloom
