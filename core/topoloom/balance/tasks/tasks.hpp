// SPDX-License-Identifier: BSD-3-Clause
// Tasks with different loads and sizes, and four policies that assign them to ranks.
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
    std::span<const double> loads;  // load of each task; finite and not negative
    std::span<const Rank> owners;
    std::size_t ranks = 0;
    std::span<const std::int64_t> bytes = {};  // memory and transfer size of each task; empty: none
    std::int64_t memory = std::numeric_limits<std::int64_t>::max();  // memory of each rank in bytes
    double tolerance = 0.02;           // allowed relative excess of a rank's load over the mean
    const CommGraph* graph = nullptr;  // bytes between tasks per period; null: unknown
    double periods = 1;                // number of periods until tasks move again
    const Machine* machine = nullptr;  // null: all ranks are equally distant
    std::span<const Slot> slots = {};  // slot of each rank
    /// Called from time to time in long searches; an exception ends the search.
    std::function<void()> poll = nullptr;
};

/// Throws Error for invalid tasks, a task larger than the memory of a rank, and tasks with more bytes than
/// the memory of all ranks.
void check_tasks(const Tasks& tasks);

[[nodiscard]] std::vector<double> sum_rank_loads(const Tasks& tasks, std::span<const Rank> owners);

/// The mean load plus the tolerance, or the largest task if that is more.
[[nodiscard]] double load_limit(const Tasks& tasks);

/// Assigns the heaviest task first: it stays if its rank remains within (1 + tolerance) times the mean,
/// otherwise it moves to the least loaded rank. O(tasks log tasks).
[[nodiscard]] std::vector<Rank> balance_greedily(const Tasks& tasks);

/// Executes the plan that a balancer computes from the loads of ranks in units of 1 / 10,000 of the mean. A
/// rank sends tasks whose loads best match the plan, beginning with those that have neighbors on the
/// receiver. Throws Error like balance().
[[nodiscard]] std::vector<Rank> balance_by_plan(const Tasks& tasks, std::string_view method);

/// Ranks above the limit send those tasks that cover their excess with the fewest bytes, and take back
/// unnecessary ones. The heaviest tasks go first, each to the fullest rank that has room. If a task fits
/// nowhere, lighter tasks leave a rank to make room for it. If a few large tasks keep a rank above the limit,
/// single tasks and pairs change ranks, starting from this result, balance_greedily() and the alias method's
/// plan; the maximum load is never larger than in these. Few tasks on few ranks are searched exactly. Throws
/// Error if the memory does not suffice. O(tasks log tasks) unless memory is scarce or tasks are large.
[[nodiscard]] std::vector<Rank> balance_with_few_bytes(const Tasks& tasks);

/// Minimizes task_cost(): bytes between ranks in all periods and moved bytes, both times the distance; an
/// intra-node byte costs a sixteenth of a hop. Tasks of a rank that communicate much are joined, level by
/// level. At each level, ranks above the limit send vertices to near ranks with room, and single vertices
/// move while this reduces the cost. New splits and, on a machine, a mapper provide alternative starts
/// (Schloegel, Karypis, Kumar: A Unified Algorithm for Load-Balancing Adaptive Scientific Simulations. SC
/// 2000). Few tasks on few ranks are searched exactly. Never costs more than balance_with_few_bytes(), and
/// throws Error under the same conditions.
[[nodiscard]] std::vector<Rank> repartition(const Tasks& tasks);

}  // namespace topoloom
