// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical groups of close processes, found in measured message costs.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/samples.hpp"
#include "topoloom/schedule/orders/cost_matrix.hpp"

namespace topoloom {

/// One of the groups that processes are split in.
struct CostGroup {
    std::vector<Rank> members;  // ascending
    Sample inside;              // messages from each of them to each other
    Sample into;                // messages to them from the groups beside it
    StudentTest test;           // that both have one mean
    double chance = 1;          // that it would be split so if it were homogeneous; 1 if it is not split
    std::vector<CostGroup> groups;
};

/// Groups of all processes, and the groups in those.
struct CostGroups {
    std::vector<std::uint32_t>
        of;  // the outermost group of every process; numbered by their lowest processes
    std::uint32_t count = 1;
    double chance = 1;  // that noise alone would split homogeneous processes so; 1 if they are not split
    std::vector<CostGroup> groups;  // outermost; none if they are not split
};

/// Splits processes where messages between the parts take longer, and every part again. Two processes are as far apart as
/// the faster of their two messages takes, or, for as many pairs as might be outliers, the longest of the other pairs; they
/// are joined by average linkage, and of all cuts of that tree those with the largest variance between inside and across
/// are tried. Groups have two processes or more. They are accepted if, by Student's t, pairs across take longer than those
/// inside with a probability of `significance` at most after it was multiplied by the number of ways to split (Bonferroni),
/// and for every group with `significance` itself. It is shared among the groups by their sizes, so that with this
/// probability at most any homogeneous group is split (N. Meinshausen, Hierarchical testing of variable importance,
/// Biometrika 95, 2008). Throws Error unless 0 < significance < 1. O(size^2 log size) for every level.
/// Source for the hypotheses: C. Karlsson, Optimizing Multi-dimensional MPI Communications on Multi-core Architectures,
/// 2012, sec. 4.1, which compares messages inside a group and into it; it gives no method to find the groups.
[[nodiscard]] CostGroups find_cost_groups(const CostMatrix& costs, double significance = 0.01);

/// One cost for all messages between the same two groups, and for those inside a group that is not split: their mean
/// without outliers, both ways. Of two processes alone whose times are more than 10 % apart the faster counts. Where such
/// means do not differ by Student's t, with probability `significance` over the number of all two of them, they are pooled,
/// the lowest first: so what noise makes fast cannot be mined for fast edges. Throws Error for groups of other processes,
/// and unless 0 < significance < 1. O(size^2).
[[nodiscard]] CostMatrix group_costs(const CostMatrix& costs, const CostGroups& groups,
                                     double significance = 0.01);

}  // namespace topoloom
