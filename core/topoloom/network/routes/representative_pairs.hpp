// SPDX-License-Identifier: BSD-3-Clause
// Node pairs whose routes represent the routes of all pairs.
#pragma once

#include <functional>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Calls visit(from, to) for pairs of nodes that differ. Any turn of a route that can be a part of a circle of turns is one
/// of a route between them, and no route has more turns of one circle than theirs have.
///
/// trees    none: routes climb, then descend, so that no turns make a circle
/// tori     from each router to those on its rings, and to those a step away on two axes: routes correct axis by axis
/// others of routers with nodes  one node of each router: routes depend on the routers alone
/// others   all
void for_each_representative_pair(const Machine& machine, const std::function<void(Node, Node)>& visit);

}  // namespace topoloom
