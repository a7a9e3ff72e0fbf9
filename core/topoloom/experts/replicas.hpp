// SPDX-License-Identifier: BSD-3-Clause
// Chooses the number of replicas of each expert.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// One held copy of an expert, and the load that it takes.
struct ExpertReplica {
    std::uint32_t expert;
    double load;
};

/// The largest load of a replica is least: one more goes to whoever has the largest, until all places are taken.
[[nodiscard]] std::vector<std::uint32_t> replicas_by_load(std::span<const double> loads,
                                                          const ExpertGpus& gpus);

/// No replica takes more than `most`; what places are left go to the busiest experts until all nodes have one.
/// Empty if there are not places enough. With as many replicas as nodes or more, all nodes have equally many.
[[nodiscard]] std::vector<std::uint32_t> replicas_by_node(std::span<const double> loads,
                                                          const ExpertGpus& gpus, double most);

/// All replicas, expert by expert.
[[nodiscard]] std::vector<ExpertReplica> list_replicas(std::span<const double> loads,
                                                       std::span<const std::uint32_t> counts);

}  // namespace topoloom
