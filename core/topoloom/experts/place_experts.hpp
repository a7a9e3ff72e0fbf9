// SPDX-License-Identifier: BSD-3-Clause
// Places the experts of a layer on GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// Experts slot by slot, GPU by GPU.
struct PlacedExperts {
    std::vector<std::uint32_t> even;  // by loads alone: no other that we know has a less busy busiest GPU
    std::vector<std::uint32_t> best;  // the busiest GPU exceeds that by the slack at most; the fewest visits
};

/// `slack`: by which the busiest GPU of the best may exceed that of the even one, such as 0.01. The search sees every
/// second token, the first included; of what it finds, the placement is taken that has the fewest visits of the others.
/// Throws Error for fewer slots than experts, and for more slots than all GPUs could hold different experts.
[[nodiscard]] PlacedExperts place_experts(const ExpertLayer& layer, const ExpertGpus& gpus,
                                          ExpertDispatch dispatch, double slack, Rng rng);

/// The same for layers, each with a stream of `seed` of its own, on up to `threads` threads (0: one per core).
[[nodiscard]] std::vector<PlacedExperts> place_layers(std::span<const ExpertLayer> layers,
                                                      const ExpertGpus& gpus, ExpertDispatch dispatch,
                                                      double slack, std::uint64_t seed, int threads);

}  // namespace topoloom
