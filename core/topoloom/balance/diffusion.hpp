// SPDX-License-Identifier: BSD-3-Clause
// Diffusive balancing, and the flow to which it converges.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/plan.hpp"
#include "topoloom/balance/rank_network.hpp"

namespace topoloom {

/// Computes a plan by first- or second-order diffusion. In every step, the fraction 1 / (1 + larger degree of
/// the two) of a pair's load difference flows. Second-order diffusion adds a multiple of the previous step's
/// flow; its number of steps is about the square root of that of first-order diffusion. Stops when each rank
/// is within half a task of its target or after `steps`. Flows are fractional; convert_flow_to_plan() rounds
/// them so that loads end at the floor or ceiling of their mean. Sources: Cybenko 1989; Muthukrishnan, Ghosh,
/// Schultz 1998. O(steps * pairs).
[[nodiscard]] Plan diffusion_plan(std::span<const std::int64_t> loads, const RankNetwork& network,
                                  std::uint32_t order, std::uint32_t steps);

/// Computes a plan by diffusion of whole tasks: flows are rounded down in every step. Where no task moves, since loads
/// of neighbors differ by less than 1 + their larger degree, pairs of neighbors in turn balance their two loads, until
/// no neighbors differ by more than one task. Sources: Sudheer 2012, sec. 5.2; Cybenko 1989 (dimension exchange).
[[nodiscard]] Plan integer_diffusion_plan(std::span<const std::int64_t> loads, const RankNetwork& network,
                                          std::uint32_t steps);

/// Computes the balancing flow with the least sum of squares, to which diffusion converges. It is the
/// difference of a potential that solves Poisson's equation on the network; computed by conjugate gradients.
/// Source: Hu, Blake, Emerson 1998.
[[nodiscard]] Plan laplacian_plan(std::span<const std::int64_t> loads, const RankNetwork& network);

}  // namespace topoloom
