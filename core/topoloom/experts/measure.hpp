// SPDX-License-Identifier: BSD-3-Clause
// Measures a placement of experts: node visits of tokens, and GPU loads.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

struct ExpertMeasures {
    /// Nodes other than its own that a token visits, on average, each once whatever it does there. Where no tokens are
    /// known, the share of choices of an expert that leave the node.
    double visits = 0;
    double load_max = 0;  // of a GPU
    double load_mean = 0;
};

/// `held`: the expert in each slot, GPU by GPU. Measures tokens `first`, `first + step`, ...; they come from all GPUs
/// alike, and replicas are drawn as `dispatch` says. O(tokens * experts per token * nodes), times nodes for tokens whose
/// replicas depend on where they come from.
[[nodiscard]] ExpertMeasures measure_experts(const ExpertLayer& layer, const ExpertGpus& gpus,
                                             ExpertDispatch dispatch, std::span<const std::uint32_t> held,
                                             std::size_t first = 0, std::size_t step = 1);

}  // namespace topoloom
