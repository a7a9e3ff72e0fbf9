// SPDX-License-Identifier: BSD-3-Clause
// Places blocks of consecutive experts on nodes, for routers that limit tokens to groups of experts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// Experts slot by slot: as many consecutive ones on every node, the busiest of them several times on the GPUs of that
/// node, which are filled evenly. This is the hierarchical placement of DeepSeek's EPLB with one block per node. Empty
/// if nodes differ in size, or their number does not divide that of the experts.
[[nodiscard]] std::vector<std::uint32_t> blocks_on_nodes(std::span<const double> loads,
                                                         const ExpertGpus& gpus);

/// The same of experts that are neighbors in this order.
[[nodiscard]] std::vector<std::uint32_t> blocks_on_nodes(std::span<const double> loads,
                                                         const ExpertGpus& gpus,
                                                         std::span<const std::uint32_t> order);

}  // namespace topoloom
