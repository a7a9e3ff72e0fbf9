// SPDX-License-Identifier: BSD-3-Clause
// Measures of new owners of tasks, and lower bounds.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

struct TaskMeasures {
    double load_max = 0;
    double load_limit = 0;
    std::int64_t moved_bytes = 0;
    /// That must move until no rank exceeds the limit, or load_max, or its memory.
    std::int64_t least_bytes = 0;
    std::int64_t cut_bytes = 0;  // that tasks of different ranks exchange in a period
    double hop_bytes = 0;        // the same, times the distance on the machine
    double moved_hop_bytes = 0;
    double cost = 0;  // task_cost()
};

/// What repartition() minimizes: bytes that tasks of different ranks send in all periods, plus migrated bytes. On a
/// machine both count times the distance and a sixteenth, the cost of a byte inside a node.
[[nodiscard]] double task_cost(const Tasks& tasks, std::span<const Rank> owners);

[[nodiscard]] TaskMeasures measure_tasks(const Tasks& tasks, std::span<const Rank> owners);

}  // namespace topoloom
