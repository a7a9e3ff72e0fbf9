// SPDX-License-Identifier: BSD-3-Clause
// Datelines: where the structure of a machine suggests to break dependency cycles.
#pragma once

#include <functional>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// True for turns from one link to another that are to be cut, where they lie on a circle. Dragonflies: from a global link to
/// any but one to a node, which minimal routes take once, and Valiant's twice (J. Kim et al., Technology-Driven, Highly-Scalable
/// Dragonfly Topology, ISCA 2008, 4.1). Others: none.
using Dateline = std::function<bool(Link, Link)>;
[[nodiscard]] Dateline datelines(const Machine& machine);

}  // namespace topoloom
