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
    /// Minimum bytes that must move so that no rank exceeds its memory, and no load exceeds both the limit
    /// and load_max.
    std::int64_t least_bytes = 0;
    std::int64_t cut_bytes = 0;  // bytes per period between tasks of different ranks
    double hop_bytes = 0;        // cut_bytes times the distance on the machine
    double moved_hop_bytes = 0;
    double cost = 0;  // task_cost()
};

/// The objective of repartition(): bytes between tasks of different ranks in all periods, plus migrated
/// bytes. On a machine, both are multiplied by the distance plus a sixteenth, which is the cost of an
/// intra-node byte.
[[nodiscard]] double task_cost(const Tasks& tasks, std::span<const Rank> owners);

[[nodiscard]] TaskMeasures measure_tasks(const Tasks& tasks, std::span<const Rank> owners);

}  // namespace topoloom
