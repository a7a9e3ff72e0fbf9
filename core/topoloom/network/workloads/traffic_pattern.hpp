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
    /// transpose    node i of 2^2b: the halves of its number change places
    /// reversal     of 2^b: its bits in reversed order
    /// complement   of 2^b: all bits flipped
    /// shift(by=1)  i + by, round the end
    /// permutation  drawn once, without nodes that keep to themselves
    /// hot-spot(node=0,percent=10)  this share to one node, the rest uniform
    /// Throws Error for unknown names and options, and numbers of nodes that do not fit.
    TrafficPattern(std::string_view text, std::size_t nodes, std::uint64_t seed);

    /// Whether the node sends; it does not send to itself.
    [[nodiscard]] bool sends(Node node) const { return fixed_.empty() || fixed_[node.value] != node; }
    [[nodiscard]] Node next(Node from, Rng& rng) const {
        if (!fixed_.empty()) return fixed_[from.value];
        if (hot_percent_ > 0 && from != hot_ && rng.below(100) < hot_percent_) return hot_;
        const std::uint32_t drawn = rng.below(nodes_ - 1);
        return Node{drawn + (drawn >= from.value ? 1 : 0)};
    }

   private:
    std::uint32_t nodes_;
    std::vector<Node> fixed_;  // [from]; empty: drawn
    Node hot_;
    std::uint32_t hot_percent_ = 0;
};

inline constexpr std::array<Alternative, 9> traffics{{
    {"uniform", "any other node"},
    {"transpose", "the halves of a node's number change places"},
    {"reversal", "the bits of its number in reversed order"},
    {"complement", "all bits of its number flipped"},
    {"shift(by=1)", "the node that many further on, round the end"},
    {"permutation", "one that is drawn for each node"},
    {"hot-spot(node=0,percent=10)", "this share to one node, the rest to any"},
    {"multicast(fanout=4,sets=8,senders=0)", "to drawn sets of nodes, copied by output-queued switches"},
    {"copies(fanout=4,sets=8,senders=0)", "to such sets, a packet to each node from the sender's card"},
}};

}  // namespace topoloom
