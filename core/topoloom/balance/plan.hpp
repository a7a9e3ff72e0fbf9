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

/// Ascending by giver, then by receiver; one per pair, of at least one task each.
using Plan = BigVector<TaskMove>;

/// The six measures of a plan (Sudheer 2012, table 5.1): totals, and the most of one rank.
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

/// Lower bounds of any one-round plan that turns `loads` into `ends`: each rank that gains has a source, each that
/// loses a receiver, all that is above its end moves, and only ranks with tasks can send. O(ranks).
[[nodiscard]] PlanMeasures least_measures(std::span<const std::int64_t> loads,
                                          std::span<const std::int64_t> ends);

/// The loads after executing the plan.
[[nodiscard]] std::vector<std::int64_t> loads_after(std::span<const std::int64_t> loads, const Plan& plan);

/// Number of rounds that a plan takes if ranks may forward tasks that they received; 1 if no rank sends more than it
/// holds. In each round every rank sends what it can, to the lowest receivers first. Throws Error if a rank must send
/// tasks that it never gets.
[[nodiscard]] std::uint32_t rounds_of(std::span<const std::int64_t> loads, const Plan& plan);

/// Sorts moves into a plan: those of one pair are added up, empty ones dropped.
[[nodiscard]] Plan make_plan(Plan moves);

}  // namespace topoloom
