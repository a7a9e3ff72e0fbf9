// SPDX-License-Identifier: BSD-3-Clause
// Chooses the number of replicas of each expert.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/experts/expert_layer.hpp"

namespace topoloom {

/// One replica of an expert, and its load.
struct ExpertReplica {
    std::uint32_t expert;
    double load;
};

/// Minimizes the largest load of a replica: adds a replica to the expert with the largest load per replica,
/// until all places are used.
[[nodiscard]] std::vector<std::uint32_t> count_replicas_by_load(std::span<const double> loads,
                                                                const ExpertGpus& gpus);

/// Chooses numbers such that no replica's load exceeds `most`; remaining places go to the busiest experts
/// until these have a replica on every node. Empty if there are not enough places. An expert with at least as
/// many replicas as nodes has equally many on every node.
[[nodiscard]] std::vector<std::uint32_t> count_replicas_by_node(std::span<const double> loads,
                                                                const ExpertGpus& gpus, double most);

/// Lists all replicas, expert by expert.
[[nodiscard]] std::vector<ExpertReplica> list_replicas(std::span<const double> loads,
                                                       std::span<const std::uint32_t> counts);

}  // namespace topoloom
