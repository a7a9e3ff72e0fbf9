// SPDX-License-Identifier: BSD-3-Clause
// Schedules with options fitted to the placement of ranks on a machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Texts for make_schedule(), for these ranks and no other number of them; most often there are none.
///   torus, mesh  disjoint-trees on the box of routers that the ranks fill, axis after axis in any order, all on one router in a
///                row: no two messages of a round take the same link. If there are several, an axis more
///   fat tree     if nodes are missing or ranks not in the order of nodes: pairwise with seats as of with_gaps(), in
/// whose
///                rounds no messages meet, whatever the ascent; and cyclic with a seat for every node of the smallest subtree
///                around, if at least half of them are taken: under d-mod-k routing of a full tree its shifts meet nowhere
///                (Zahavi 2010). Several ranks of a node have seats in a row, as many on every node
[[nodiscard]] std::vector<std::string> fitted_schedules(const Machine& machine,
                                                        std::span<const Node> node_of_rank);

}  // namespace topoloom
