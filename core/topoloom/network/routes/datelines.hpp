// SPDX-License-Identifier: BSD-3-Clause
// Datelines: turns at which to break dependency cycles, derived from the structure of a machine.
#pragma once

#include <functional>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Returns a function that is true for the turns, from one link to another, at which to break a dependency
/// cycle. On dragonflies these are all turns from a global link, except to nodes: minimal routes have one,
/// Valiant routes two (J. Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008, 4.1).
/// Other topologies have none.
using Dateline = std::function<bool(Link, Link)>;
[[nodiscard]] Dateline datelines(const Machine& machine);

}  // namespace topoloom
