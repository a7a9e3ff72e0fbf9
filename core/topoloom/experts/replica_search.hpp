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

/// Simulated annealing from a placement: slots swap their experts, or one gives its expert, which others hold too, for
/// another. Few tokens leave their nodes, each replica taking an equal share of its expert's; no GPU has more than
/// `most`, and no node holds an expert twice that is not on all nodes. Returns the best found that keeps to this, or
/// nothing.
[[nodiscard]] std::vector<std::uint32_t> search_replicas(std::span<const double> loads,
                                                         const ExpertGpus& gpus,
                                                         std::vector<std::uint32_t> held, double most,
                                                         std::size_t moves, Rng& rng);

}  // namespace topoloom
