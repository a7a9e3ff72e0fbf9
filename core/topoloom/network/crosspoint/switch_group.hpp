// SPDX-License-Identifier: BSD-3-Clause
// Groups of nodes, with trees along which switches perform their multicasts and reductions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topoloom/network/component_choices.hpp"
#include "topoloom/network/switch_options.hpp"
#include "topoloom/schedule/orders/spanning_trees.hpp"

namespace topoloom {

/// Collective operation of a group. A barrier is an allreduce without data.
enum class SwitchCollective { multicast, reduce, allreduce };
inline constexpr std::array<Alternative, 3> switch_collectives{{
    {"multicast", "switches copy the data of a member to all other members"},
    {"reduce", "switches combine the data of all other members for the root"},
    {"allreduce", "switches combine the data of all members and copy the result to all"},
}};

/// A group and its tree. Every member can send along the tree.
struct SwitchGroup {
    SwitchCollective collective = SwitchCollective::multicast;
    SpanningTree tree;          // the root receives the result of a reduction
    std::vector<Node> members;  // members, including the root
};

/// Options of combining units. A unit processes whole packets, one after the other.
struct CombineOptions {
    static constexpr std::uint32_t longest = 1U << 20;  // period

    /// Number of combining units per switch: one, or several with equal numbers of inputs below a root unit.
    std::uint32_t units = 1;
    std::uint32_t period = ChannelTimes::cycle;  // time that a unit needs per flit, in parts of a cycle
};

}  // namespace topoloom
