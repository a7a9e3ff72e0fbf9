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

/// A rank that owns some of a vertex's tasks, and their bytes.
struct TaskAnchor {
    Part home;
    std::int64_t bytes;
};

struct TaskLevel {
    partition::WeightedGraph graph;  // edge weights are the bytes of both directions
    std::vector<double> load;
    std::vector<std::int64_t> bytes;
    /// By vertex: index of its first anchor. The last entry is the number of anchors.
    std::vector<std::uint32_t> first_anchor;
    std::vector<TaskAnchor> anchors;
    std::vector<Vertex> coarse_of;  // vertex of the next level; empty in the coarsest

    [[nodiscard]] std::span<const TaskAnchor> anchors_of(Vertex v) const {
        return {anchors.data() + first_anchor[v.value], first_anchor[v.value + 1] - first_anchor[v.value]};
    }
};

/// Builds the levels, beginning with the one whose vertices are the tasks. If labels are given, joins only
/// vertices with the same label. About O(edges).
[[nodiscard]] std::vector<TaskLevel> build_task_levels(const Tasks& tasks, std::span<const Part> label,
                                                       Rng rng);

/// Converts the parts of tasks to parts of the vertices at the coarsest level. All tasks in a vertex must
/// have the same part.
[[nodiscard]] std::vector<Part> project_to_coarsest(std::span<const TaskLevel> levels,
                                                    std::vector<Part> part);

/// Splits the coarsest level into one part per rank by recursive bisection, regardless of the current owners;
/// then assigns parts to the ranks that own most of their bytes. Loads are only approximately equal.
[[nodiscard]] std::vector<Part> split_coarsest(const TaskLevel& level, std::size_t ranks, Rng rng);

}  // namespace topoloom
