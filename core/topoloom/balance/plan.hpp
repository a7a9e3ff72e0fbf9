// SPDX-License-Identifier: BSD-3-Clause
// Redistribution plans, their measures, and lower bounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom {

/// A transfer of tasks from one rank to another.
struct TaskMove {
    Rank from;
    Rank to;
    std::int64_t tasks = 0;

    friend bool operator==(const TaskMove&, const TaskMove&) = default;
};

/// Moves sorted by sender, then by receiver; at most one per pair of ranks, with at least one task each.
using Plan = BigVector<TaskMove>;

/// The six measures of a plan (Sudheer 2012, table 5.1): totals and maxima per rank.
struct PlanMeasures {
    std::int64_t messages = 0;
    std::int64_t tasks = 0;
    std::int64_t max_receives = 0;
    std::int64_t max_tasks_received = 0;
    std::int64_t max_sends = 0;
    std::int64_t max_tasks_sent = 0;

    friend bool operator==(const PlanMeasures&, const PlanMeasures&) = default;
};

/// O(ranks + moves).
[[nodiscard]] PlanMeasures measure_plan(const Plan& plan, std::size_t ranks);

/// Computes lower bounds on the measures of any one-round plan that turns `loads` into `ends`. The bounds
/// follow from these facts: each rank that gains tasks has a sender, each that loses tasks has a receiver,
/// all tasks above a target move, and only ranks with tasks can send. O(ranks).
[[nodiscard]] PlanMeasures least_measures(std::span<const std::int64_t> loads,
                                          std::span<const std::int64_t> ends);

/// Returns the loads after executing the plan.
[[nodiscard]] std::vector<std::int64_t> loads_after(std::span<const std::int64_t> loads, const Plan& plan);

/// Number of rounds that a plan takes if ranks may forward received tasks; 1 if no rank sends more than it
/// has. In each round every rank sends as many tasks as it can, lowest receivers first. Throws Error if a
/// rank must send tasks that it never receives.
[[nodiscard]] std::uint32_t rounds_of(std::span<const std::int64_t> loads, const Plan& plan);

/// Sorts moves into a plan; adds up moves of the same pair and drops empty ones.
[[nodiscard]] Plan make_plan(Plan moves);

}  // namespace topoloom
