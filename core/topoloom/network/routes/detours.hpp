// SPDX-License-Identifier: BSD-3-Clause
// Valiant detours over the groups of a dragonfly.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/network/fabric.hpp"
#include "topoloom/network/routes/node_channels.hpp"

namespace topoloom {

/// Draws Valiant detours. A detour is a minimal route to the first router in a random group, and from there a
/// minimal route to the destination.
class Detours {
   public:
    /// Refers to the fabric. Throws Error for machines without groups.
    explicit Detours(const Fabric& fabric);

    /// Whether a detour exists: the nodes are in different groups, and there is a third group.
    [[nodiscard]] bool has(Node from, Node to) const { return groups_ > 2 && group(from) != group(to); }
    /// Draws a group. Returns a node in this group, the first target of the detour.
    [[nodiscard]] Node draw(Node from, Node to, Rng& rng) const;
    /// Whether a channel leads into the group of a node.
    [[nodiscard]] bool enters_group_of(ChannelId channel, Node node) const {
        const Channel& ends = fabric_->channel(channel);
        return !ends.is_exit() && group_of_[ends.to] == group(node) && is_global(channel);
    }
    /// The node at the router that a channel leads to.
    [[nodiscard]] Node node_at_end_of(ChannelId channel) const {
        return node_channels_.node_at[fabric_->channel(channel).to];
    }
    /// For each channel between groups, calls visit(channel, node) with one node for each router of every
    /// third group.
    void for_each_turn(const std::function<void(ChannelId, Node)>& visit) const;

   private:
    [[nodiscard]] std::uint32_t group(Node node) const { return node.value / nodes_; }
    [[nodiscard]] bool is_global(ChannelId channel) const {
        const Channel& ends = fabric_->channel(channel);
        return !ends.is_entry() && !ends.is_exit() && group_of_[ends.from] != group_of_[ends.to];
    }

    const Fabric* fabric_;
    NodeChannels node_channels_;
    std::uint32_t nodes_ = 1;  // of a group
    std::uint32_t groups_ = 1;
    std::vector<std::uint32_t> group_of_;  // [router]
};

}  // namespace topoloom
