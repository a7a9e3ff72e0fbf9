// SPDX-License-Identifier: BSD-3-Clause
// Plans of least task-hops, with a limit on how many ranks one receives from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/balancer.hpp"

namespace topoloom {

/// Ranks that one may receive from unless more or fewer are asked for: with one, a third more tasks move.
inline constexpr std::uint32_t usual_receives = 2;

/// Surplus goes to deficits by the cheapest transport, or on larger jobs by match_near() in the order; then limit_receives(),
/// unless `receives` is 0. Loads end at the floor or ceiling of their mean, in one round and in at most ranks - 1 messages.
[[nodiscard]] Plan transport_plan(const BalanceProblem& problem, std::span<const std::uint32_t> order,
                                  std::uint32_t receives);

/// The same with each of these limits; the transport is found once.
[[nodiscard]] std::vector<Plan> transport_plans(const BalanceProblem& problem,
                                                std::span<const std::uint32_t> order,
                                                std::span<const std::uint32_t> receives);

/// The sum over all moves of tasks times distance: hop-bytes of tasks of one byte.
[[nodiscard]] double task_hops(const BalanceProblem& problem, const Plan& plan);

}  // namespace topoloom
