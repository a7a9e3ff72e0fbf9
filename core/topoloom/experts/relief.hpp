// SPDX-License-Identifier: BSD-3-Clause
// Blocks of experts on nodes, with replicas of overloaded nodes' experts on other nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// Returns the experts slot by slot: equally many adjacent experts of this order per node, as in
/// `place_blocks_on_nodes`. If a node's load exceeds the mean by more than `over`, some of its experts get a
/// replica on another node, chosen for the fewest additional visits of every second token. Replicas in free
/// slots keep blocks together, whereas swaps would not. Empty if `place_blocks_on_nodes` is.
[[nodiscard]] std::vector<std::uint32_t> relieve_blocks(const ExpertLayer& layer, const ExpertGpus& gpus,
                                                        std::span<const std::uint32_t> order, double over);

}  // namespace topoloom
