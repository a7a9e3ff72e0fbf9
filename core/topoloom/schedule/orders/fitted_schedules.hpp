// SPDX-License-Identifier: BSD-3-Clause
// Schedules with options fitted to the placement of ranks on a machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Returns texts for make_schedule() that are valid only for this number of ranks; usually none.
///   torus, mesh  disjoint-trees, if the ranks fill a box of routers axis after axis, in any order of axes,
///                with consecutive ranks on each router: no two messages of a round use the same link.
///                Several ranks per router form another axis
///   fat tree     if nodes are missing or ranks are not in node order: pairwise with the seats of
///                with_gaps(), in whose rounds no messages meet for any choice of upward routes. Also cyclic
///                with a seat for every node of the smallest enclosing subtree, if at least half of them are
///                taken: with d-mod-k routing in a full tree, the messages of its shifts never meet (Zahavi
///                2010). Ranks of a node have adjacent seats, equally many on every node
[[nodiscard]] std::vector<std::string> fitted_schedules(const Machine& machine,
                                                        std::span<const Node> node_of_rank);

}  // namespace topoloom
