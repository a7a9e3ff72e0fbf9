// SPDX-License-Identifier: BSD-3-Clause
// Diffusive balancing, and the flow that it converges to.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/neighbors.hpp"
#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// In every step a pair levels a share 1 / (1 + larger degree) of its difference; in the second order it also goes on as in
/// the step before, which takes about the square root of the steps. Ends once each rank is within half a task of its end or
/// after `steps`. Fractions of tasks flow; plan_of_flow() makes integers of them, so that loads end at the floor or ceiling of
/// their mean. Sources: Cybenko 1989; Muthukrishnan, Ghosh, Schultz 1998. O(steps * pairs).
[[nodiscard]] Plan diffusion_plan(std::span<const std::int64_t> loads, const RankNetwork& network,
                                  std::uint32_t order, std::uint32_t steps);

/// Only entire tasks move, the share of a difference rounded down, until nothing moves: neighbors may then differ by less
/// than 1 + their larger degree. Source: Sudheer 2012, sec. 5.2.
[[nodiscard]] Plan integer_diffusion_plan(std::span<const std::int64_t> loads, const RankNetwork& network,
                                          std::uint32_t steps);

/// The flow that balances with the least sum of squares: differences of a potential that solves Laplace's equation of the
/// network, by conjugate gradients. The limit of diffusion. Source: Hu, Blake, Emerson 1998.
[[nodiscard]] Plan laplacian_plan(std::span<const std::int64_t> loads, const RankNetwork& network);

}  // namespace topoloom
