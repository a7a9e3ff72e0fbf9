// SPDX-License-Identifier: BSD-3-Clause
// Routing algorithms.
#pragma once

#include <array>
#include <string_view>

#include "topoloom/machine/machine.hpp"
#include "topoloom/network/component_choices.hpp"

namespace topoloom {

/// Routing algorithms. Sources: Valiant routing over an intermediate group, and UGAL-L: J. Kim, W. Dally, S.
/// Scott, D. Abts, Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008, section 4. Escape
/// channels: J. Duato, A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks, IEEE TPDS 4,
/// 1993.
enum class Routing { own, minimal_adaptive, valiant, ugal };

inline constexpr std::array<Alternative, 4> routings{{
    {"own", "the machine's own routes"},
    {"minimal-adaptive", "at each switch the least loaded channel on a shortest route"},
    {"valiant", "on a dragonfly: minimally to a random group, then minimally to the target"},
    {"ugal",
     "on a dragonfly: minimal, or Valiant if the queues at the first switch predict that it is faster"},
}};

[[nodiscard]] inline Routing routing_of(std::string_view name) {
    return parse_alternative<Routing>("routing", name, routings);
}

/// Returns the named routing that corresponds to the machine's own routing, or Routing::own for minimal fixed
/// routes.
[[nodiscard]] Routing own_routing(const Machine& machine);

}  // namespace topoloom
