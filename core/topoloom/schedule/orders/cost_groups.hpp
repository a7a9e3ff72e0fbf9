// SPDX-License-Identifier: BSD-3-Clause
// Finds hierarchical groups of close processes in measured message costs.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/samples.hpp"
#include "topoloom/schedule/orders/cost_matrix.hpp"

namespace topoloom {

/// One of the groups into which processes are split.
struct CostGroup {
    std::vector<Rank> members;  // ascending
    Sample inside;              // messages between its members
    Sample into;                // messages to its members from sibling groups
    StudentTest test;           // test that both samples have the same mean
    double chance = 1;          // p-value of its split if it were homogeneous; 1 if it is not split
    std::vector<CostGroup> groups;
};

/// Groups of all processes, with nested groups.
struct CostGroups {
    /// The outermost group of every process, numbered in order of their lowest process.
    std::vector<std::uint32_t> of;
    std::uint32_t count = 1;
    double chance = 1;  // p-value of the split if all processes were homogeneous; 1 if they are not split
    std::vector<CostGroup> groups;  // outermost groups; none if the processes are not split
};

/// Recursively splits processes into groups such that messages between groups are slower. The distance of two
/// processes is the faster of their two messages. The longest distances, as many as might be outliers, are
/// replaced by the longest of the others. Average linkage joins the processes into a tree. The cuts of this
/// tree with the largest variance between intra-group and inter-group times are tested. A group has at least
/// two processes. Groups are accepted if Student's t test finds inter-group pairs slower than intra-group
/// pairs. The p-value, multiplied by the number of possible splits (Bonferroni), must be at most
/// `significance`, and the test of each single group must also pass. `significance` is shared among the
/// groups by size, so that it bounds the probability that any homogeneous group is split (N. Meinshausen,
/// Hierarchical testing of variable importance, Biometrika 95, 2008). Throws Error unless 0 < significance <
/// 1. O(size^2 log size) per level. Source of the hypotheses: C. Karlsson, Optimizing Multi-dimensional MPI
/// Communications on Multi-core Architectures, 2012, sec. 4.1, which compares messages within a group with
/// messages into it, but has no method to find the groups.
[[nodiscard]] CostGroups find_cost_groups(const CostMatrix& costs, double significance = 0.01);

/// Replaces the costs between every pair of groups, and within each group that is not split, by their mean
/// over both directions without outliers. If a pair of single processes has times more than 10 % apart, the
/// faster time is used. Means that do not differ by Student's t test are pooled, beginning with the lowest,
/// so that noise does not create fast edges; the test uses `significance` divided by the number of pairs of
/// means. Throws Error for groups of other processes, and unless 0 < significance < 1. O(size^2).
[[nodiscard]] CostMatrix group_costs(const CostMatrix& costs, const CostGroups& groups,
                                     double significance = 0.01);

}  // namespace topoloom
