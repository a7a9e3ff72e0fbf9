// SPDX-License-Identifier: BSD-3-Clause
// Packs replicas onto GPUs with a balanced load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/replicas.hpp"

namespace topoloom {

/// Packs replicas into `bins` bins of `slots` slots each; the replicas must fill all slots. The heaviest
/// replica goes first to the emptiest bin without its expert; then swaps with the fullest bin are applied
/// while they help. Returns the bin of each replica.
[[nodiscard]] std::vector<std::uint32_t> pack_evenly(std::span<const ExpertReplica> replicas,
                                                     std::size_t bins, std::size_t slots);

/// Load of each bin.
[[nodiscard]] std::vector<double> bin_loads(std::span<const ExpertReplica> replicas,
                                            std::span<const std::uint32_t> bin_of, std::size_t bins);

}  // namespace topoloom
