// SPDX-License-Identifier: BSD-3-Clause
// Measures a placement of experts: node visits of tokens, and GPU loads.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

struct ExpertMeasures {
    /// Mean number of remote nodes that a token visits; each node counts once per token. If no tokens are
    /// known, the fraction of choices that select an expert on a remote node.
    double visits = 0;
    double load_max = 0;  // of a GPU
    double load_mean = 0;
};

/// `expert_of_slot`: the expert in each slot, GPU by GPU. Measures tokens `first`, `first + step`, ...; they
/// originate uniformly from all GPUs, and replicas are drawn according to `dispatch`. O(tokens * experts per
/// token * nodes), times nodes for tokens whose replicas depend on their origin.
[[nodiscard]] ExpertMeasures measure_experts(const ExpertLayer& layer, const ExpertGpus& gpus,
                                             ExpertDispatch dispatch,
                                             std::span<const std::uint32_t> expert_of_slot,
                                             std::size_t first = 0, std::size_t step = 1);

}  // namespace topoloom
