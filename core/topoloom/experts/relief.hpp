// SPDX-License-Identifier: BSD-3-Clause
// Blocks of experts on nodes, with replicas of overloaded nodes' experts elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// Experts slot by slot: as many neighbors of this order on every node as in `blocks_on_nodes`. Of nodes with more than
/// `over` above the mean load some experts are held on another node once more, where every second token costs the least
/// visits: slots that are left take no block apart as swaps would. Every second token is seen, the first included. Empty
/// where `blocks_on_nodes` is.
[[nodiscard]] std::vector<std::uint32_t> relieved_blocks(const ExpertLayer& layer, const ExpertGpus& gpus,
                                                         std::span<const std::uint32_t> order, double over);

}  // namespace topoloom
