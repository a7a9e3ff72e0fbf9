// SPDX-License-Identifier: BSD-3-Clause
// Places blocks of consecutive experts on nodes, for routers that limit tokens to groups of experts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// Returns the experts slot by slot: equally many consecutive experts per node. The busiest experts of each
/// node are replicated within it, and all replicas are packed evenly onto its GPUs. This is the hierarchical
/// placement of DeepSeek's EPLB with one block per node. Empty if nodes differ in size, or if the number of
/// nodes does not divide the number of experts.
[[nodiscard]] std::vector<std::uint32_t> place_blocks_on_nodes(std::span<const double> loads,
                                                               const ExpertGpus& gpus);

/// The same, but takes the experts in this order.
[[nodiscard]] std::vector<std::uint32_t> place_blocks_on_nodes(std::span<const double> loads,
                                                               const ExpertGpus& gpus,
                                                               std::span<const std::uint32_t> order);

}  // namespace topoloom
