// SPDX-License-Identifier: BSD-3-Clause
// Synthetic traffic: destinations of packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/network/component_choices.hpp"

namespace topoloom {

/// Destinations of packets. Source: W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 3.2.
class TrafficPattern {
   public:
    /// uniform      any other node
    /// transpose    for 2^2b nodes: swaps the two halves of the node number's bits
    /// reversal     for 2^b nodes: reverses the bits of the node number
    /// complement   for 2^b nodes: flips all bits of the node number
    /// shift(by=1)  node i sends to (i + by) mod nodes
    /// permutation  a random permutation without fixed points
    /// hot-spot(node=0,percent=10)  `percent` of the packets to one node, the rest uniform
    /// Throws Error for unknown names and options, and for unsupported node counts.
    TrafficPattern(std::string_view text, std::size_t nodes, std::uint64_t seed);

    /// Whether the node sends. Nodes that would send to themselves do not.
    [[nodiscard]] bool sends(Node node) const { return fixed_.empty() || fixed_[node.value] != node; }
    [[nodiscard]] Node draw_destination(Node from, Rng& rng) const {
        if (!fixed_.empty()) return fixed_[from.value];
        if (hot_percent_ > 0 && from != hot_ && rng.below(100) < hot_percent_) return hot_;
        const std::uint32_t drawn = rng.below(nodes_ - 1);
        return Node{drawn + (drawn >= from.value ? 1 : 0)};
    }

   private:
    std::uint32_t nodes_;
    std::vector<Node> fixed_;  // [source node]; empty if the destination is drawn for each packet
    Node hot_;
    std::uint32_t hot_percent_ = 0;
};

inline constexpr std::array<Alternative, 9> traffics{{
    {"uniform", "any other node"},
    {"transpose", "swaps the two halves of the node number's bits"},
    {"reversal", "reverses the bits of the node number"},
    {"complement", "flips all bits of the node number"},
    {"shift(by=1)", "the node with the number plus `by`, wrapping around"},
    {"permutation", "a random permutation of the nodes"},
    {"hot-spot(node=0,percent=10)", "`percent` of the packets to one node, the rest to any"},
    {"multicast(fanout=4,sets=8,senders=0)", "to random sets of nodes, copied by output-queued switches"},
    {"copies(fanout=4,sets=8,senders=0)", "to random sets of nodes, a packet per node from the sender's NIC"},
}};

}  // namespace topoloom
