// SPDX-License-Identifier: BSD-3-Clause
// The multilevel hierarchy of the task graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom {

/// Bytes of a vertex that are currently on one rank.
struct TaskAnchor {
    Part home;
    std::int64_t bytes;
};

struct TaskLevel {
    partition::WeightedGraph graph;  // edges weigh the bytes of both directions
    std::vector<double> load;
    std::vector<std::int64_t> bytes;
    std::vector<std::uint32_t> first_anchor;  // by vertex, and the end of the last
    std::vector<TaskAnchor> anchors;
    std::vector<Vertex> coarse_of;  // in the next level; empty in the coarsest

    [[nodiscard]] std::span<const TaskAnchor> anchors_of(Vertex v) const {
        return {anchors.data() + first_anchor[v.value], first_anchor[v.value + 1] - first_anchor[v.value]};
    }
};

/// The tasks themselves first. Joins vertices of the same label only; none: any. About O(edges).
[[nodiscard]] std::vector<TaskLevel> task_levels(const Tasks& tasks, std::span<const Part> label, Rng rng);

/// TaskParts of tasks, as parts of the vertices of the coarsest level. Tasks of a vertex have one label.
[[nodiscard]] std::vector<Part> coarsest_parts(std::span<const TaskLevel> levels, std::vector<Part> part);

/// Splits the coarsest level in as many parts as there are ranks, wherever tasks are now, by recursive bisection; then parts
/// get the ranks that have most of their bytes. Loads are only about equal.
[[nodiscard]] std::vector<Part> split_coarsest(const TaskLevel& level, std::size_t ranks, Rng rng);

}  // namespace topoloom
