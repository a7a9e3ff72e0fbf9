// SPDX-License-Identifier: BSD-3-Clause
// Tasks with loads and sizes move from their owners so that no rank has too much to do, and as few bytes travel as can be.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

struct WeightedTasks {
    std::span<const double> loads;        // at least 0
    std::span<const std::int64_t> bytes;  // that move with a task, and take memory; at least 0
    std::span<const Rank> owners;
    std::size_t ranks = 0;
    std::int64_t memory = std::numeric_limits<std::int64_t>::max();  // of each rank
    double tolerance = 0.02;  // by which the load of a rank may exceed the mean
};

struct WeightedBalance {
    std::vector<Rank> owners;
    double load_max = 0;
    double load_limit = 0;  // the mean with the tolerance, or the largest task
    std::int64_t moved_bytes = 0;
    std::int64_t least_bytes = 0;  // that must move until no rank exceeds the limit
};

/// Ranks above the limit give tasks with few bytes for their load, and take back what need not go; the heaviest go first, each
/// to the rank that they fill best. Where a task fits nowhere, lighter ones make room for it. The bound lets ranks give parts of tasks.
/// Throws Error for a task that is larger than the memory, for more bytes than all ranks hold, and where no place is found for
/// the bytes. O(tasks log tasks) unless memory is scarce.
[[nodiscard]] WeightedBalance balance_weighted(const WeightedTasks& tasks);

}  // namespace topoloom
