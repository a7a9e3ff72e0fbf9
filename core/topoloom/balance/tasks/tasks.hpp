// SPDX-License-Identifier: BSD-3-Clause
// Tasks of unequal loads and sizes, and four policies that assign them to ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Relative rounding error allowed for sums of loads.
inline constexpr double load_rounding = 1e-12;

/// Cost of a byte between ranks of a node, in hops.
inline constexpr double byte_inside_node = 0.0625;

struct Tasks {
    std::span<const double> loads;  // finite and at least 0
    std::span<const Rank> owners;
    std::size_t ranks = 0;
    std::span<const std::int64_t> bytes = {};  // that move with a task, and take memory; empty: none
    std::int64_t memory = std::numeric_limits<std::int64_t>::max();  // of each rank
    double tolerance = 0.02;           // by which the load of a rank may exceed the mean
    const CommGraph* graph = nullptr;  // what tasks send to each other in a period; null: unknown
    double periods = 1;                // until tasks move again
    const Machine* machine = nullptr;  // null: all ranks are equally far from each other
    std::span<const Slot> slots = {};  // of the ranks
    /// Called now and then in long searches; an exception ends them.
    std::function<void()> poll = nullptr;
};

/// Throws Error for tasks that cannot be, for one that is larger than the memory, and for more bytes than all ranks hold.
void check_tasks(const Tasks& tasks);

[[nodiscard]] std::vector<double> loads_of_ranks(const Tasks& tasks, std::span<const Rank> owners);

/// The mean with the tolerance, or the largest task. No rank should have more.
[[nodiscard]] double load_limit(const Tasks& tasks);

/// The heaviest task first: it stays where that keeps its rank within (1 + tolerance) times the mean, and else goes to the least
/// loaded rank. O(tasks log tasks).
[[nodiscard]] std::vector<Rank> balance_greedily(const Tasks& tasks);

/// Follows a balancer's plan for the loads of ranks in parts of 1 / 10,000 of the mean. A rank gives the tasks that come next
/// to what the plan says, the ones first whose neighbors are there. Throws Error as balance() does.
[[nodiscard]] std::vector<Rank> balance_by_plan(const Tasks& tasks, std::string_view method);

/// Ranks above the limit give the tasks with the fewest bytes that make up for it, and take back what need not go; the heaviest go
/// first, each to the rank that they fill best. Where a task fits nowhere, lighter ones make room for it. Where that does not reach the
/// limit, which takes few large tasks, single tasks and pairs change ranks, from there, from balance_greedily() and from the alias
/// method's plan: the busiest rank is none that has more than with these. Few tasks on few ranks are searched exactly. Throws Error
/// where no place is found for the bytes. O(tasks log tasks) unless memory is scarce or tasks are large.
[[nodiscard]] std::vector<Rank> balance_with_few_bytes(const Tasks& tasks);

/// Few bytes between ranks, in all periods, and few that move, both times the distance; inside a node a byte costs a sixteenth of
/// a hop. Tasks of a rank that are close are joined, level by level; at each, ranks above the limit give to the next ranks that have
/// room, and single vertices move while that pays. Splits that restart, and on a machine a mapper, compete (Schloegel,
/// Karypis, Kumar: A Unified Algorithm for Load-Balancing Adaptive Scientific Simulations. SC 2000). Few tasks on few
/// ranks are searched exactly. Never costs more than balance_with_few_bytes(), and throws Error if that does.
[[nodiscard]] std::vector<Rank> repartition(const Tasks& tasks);

}  // namespace topoloom
