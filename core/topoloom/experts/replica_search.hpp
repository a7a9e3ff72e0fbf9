// SPDX-License-Identifier: BSD-3-Clause
// Chooses replicas that keep most tokens on their nodes, for nearest dispatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// Simulated annealing from a placement: two slots swap their experts, or a slot replaces a replicated expert
/// with another. Minimizes the number of tokens that leave their nodes, assuming that each replica receives
/// an equal share of its expert's tokens. No GPU exceeds `most`, and no node has two replicas of an expert
/// that is not on all nodes. Returns the best placement that satisfies these limits, or nothing.
[[nodiscard]] std::vector<std::uint32_t> search_replicas(std::span<const double> loads,
                                                         const ExpertGpus& gpus,
                                                         std::vector<std::uint32_t> expert_of_slot,
                                                         double most, std::size_t moves, Rng& rng);

}  // namespace topoloom
