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
    /// Placement by loads alone: of all known methods, the result whose busiest GPU has the least load.
    std::vector<std::uint32_t> even;
    /// Placement with the fewest visits whose busiest GPU has at most `slack` more load than that of `even`.
    std::vector<std::uint32_t> best;
};

/// `slack`: relative excess of the busiest GPU of `best` over that of `even`, such as 0.01. The search uses
/// every second token, including the first; the result is the candidate with the fewest visits by the other
/// tokens. Throws Error for fewer slots than experts, and for more slots per GPU than experts.
[[nodiscard]] PlacedExperts place_experts(const ExpertLayer& layer, const ExpertGpus& gpus,
                                          ExpertDispatch dispatch, double slack, Rng rng);

/// Places several layers, each with its own random stream derived from `seed`, on up to `threads` threads (0:
/// one per core).
[[nodiscard]] std::vector<PlacedExperts> place_layers(std::span<const ExpertLayer> layers,
                                                      const ExpertGpus& gpus, ExpertDispatch dispatch,
                                                      double slack, std::uint64_t seed, int threads);

}  // namespace topoloom
