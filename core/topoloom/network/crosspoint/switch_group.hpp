// SPDX-License-Identifier: BSD-3-Clause
// Nodes that multicast or reduce in switches, along a tree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topoloom/network/kinds.hpp"
#include "topoloom/network/switch_options.hpp"
#include "topoloom/schedule/orders/spanning_trees.hpp"

namespace topoloom {

/// What switches do with the packets of a group. A barrier is an all-reduce of packets without values.
enum class SwitchCollective { multicast, reduce, allreduce };
inline constexpr std::array<Kind, 3> switch_collectives{{
    {"multicast", "switches copy what a member sends to all others"},
    {"reduce", "switches combine what all members but one send, for that one"},
    {"allreduce", "switches combine what all members send, and copy the result to all"},
}};

/// A tree serves its members whoever of them sends.
struct SwitchGroup {
    SwitchCollective collective = SwitchCollective::multicast;
    SpanningTree tree;          // of a reduction, its root receives
    std::vector<Node> members;  // the root is one of them
};

/// How switches combine. A unit takes whole packets, one after the other.
struct CombineOptions {
    static constexpr std::uint32_t longest = 1U << 20;  // period

    std::uint32_t units = 1;  // of a switch: one, or a root above others that each serve as many inputs
    std::uint32_t period = ChannelTimes::cycle;  // that a flit takes, in parts of a cycle
};

}  // namespace topoloom
