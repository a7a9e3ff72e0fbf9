// SPDX-License-Identifier: BSD-3-Clause
// Node pairs whose routes represent the routes of all pairs.
#pragma once

#include <functional>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Calls visit(from, to) for pairs of different nodes. The routes of these pairs contain all turns that can
/// be part of a dependency cycle. No other route has more turns of the same cycle.
///
/// trees    none: routes go up, then down, so turns form no cycle
/// tori     each router to the routers on its rings, and to the routers one step away on two axes:
///          dimension-ordered routes
/// others of routers with nodes  one node per router: routes depend only on the routers
/// others   all pairs
void for_each_representative_pair(const Machine& machine, const std::function<void(Node, Node)>& visit);

}  // namespace topoloom
