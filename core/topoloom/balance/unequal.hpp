// SPDX-License-Identifier: BSD-3-Clause
// Tasks of unequal loads, such as objects: which of them move, greedily or so that a plan is carried out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Tasks with loads that are finite and >= 0, and the rank of each.
struct UnequalTasks {
    std::span<const double> loads;
    std::span<const Rank> rank_of;
    std::size_t ranks = 0;
    /// Who sends to whom: of tasks that fit alike, those move that gain neighbors. Null: unknown.
    const CommGraph* graph = nullptr;
    /// For balancers that choose near ranks; see BalanceProblem.
    const Machine* machine = nullptr;
    std::span<const Slot> slots = {};
};

/// The load of each rank.
[[nodiscard]] std::vector<double> loads_of_ranks(const UnequalTasks& tasks, std::span<const Rank> rank_of);

/// The heaviest task first: it stays where that keeps its rank within (1 + tolerance) times the average, and else goes to the least
/// loaded rank. O(tasks log tasks).
[[nodiscard]] std::vector<Rank> balance_greedily(const UnequalTasks& tasks, double tolerance);

/// Follows a balancer's plan for the loads of ranks in parts of 1 / 10,000 of the average. A rank gives the tasks that come next
/// to what the plan says, the ones first whose neighbors are there. Throws Error as balance() does.
[[nodiscard]] std::vector<Rank> balance_by_plan(const UnequalTasks& tasks, std::string_view method);

}  // namespace topoloom
