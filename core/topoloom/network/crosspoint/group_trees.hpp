// SPDX-License-Identifier: BSD-3-Clause
// Multicast and reduction trees of groups, by switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/network/crosspoint/switch_group.hpp"
#include "topoloom/network/fabric.hpp"
#include "topoloom/network/routes/turns.hpp"

namespace topoloom {

/// A tree edge from a switch to another switch or to a member.
struct TreeBranch {
    ChannelId out;
    ChannelId in;                     // channel in the opposite direction
    std::uint32_t next = no_index;    // vertex at the other end; none if a member is there
    std::uint32_t back = 0;           // index of the reverse branch at `next`
    Node member = Node::none;         // member at the other end
    std::uint32_t window = no_index;  // window of `out`, if the group has separate windows
    std::uint32_t combiner = 0;       // combiner for packets from this branch
    std::uint64_t combined = 0;       // number of packets from this branch that have been combined
};

/// State of a combining unit for a group. Operations are combined in order; at most a window of them may be
/// incomplete.
struct Combiner {
    struct Operation {
        std::uint32_t there = 0;  // received parts
        std::uint64_t message = 0;
    };
    std::uint32_t unit = 0;    // index of the unit among those of the router
    std::uint32_t needed = 0;  // parts
    /// Combiner that receives the result; none if the result leaves the switch.
    std::uint32_t above = no_index;
    std::uint64_t combined = 0;      // number of results that the combiner above has combined
    std::uint64_t first = 0;         // first operation whose result has not left
    std::vector<Operation> table{};  // [operation modulo table size]: its state
};

/// A vertex of a group's tree, which is a switch.
struct TreeVertex {
    std::uint32_t group = 0;
    std::uint32_t router = 0;
    std::uint32_t lane = no_index;  // lane of the router's queues, if the group has separate windows
    /// Branch on which results leave; none at the top, where results turn around.
    std::uint32_t up = no_index;
    std::vector<TreeBranch> branches{};
    std::vector<Combiner> combiners{};
};

/// The point at which a member injects packets into its tree.
struct TreeEntry {
    ChannelId channel;
    std::uint32_t vertex = no_index;  // vertex of the tree; none if the node is not a member
    std::uint32_t branch = 0;         // branch from the vertex to the member
    std::uint32_t window = no_index;
};

/// Trees of all groups. Vertices are numbered over all groups. Reductions end at the root. An allreduce
/// combines up to the center of the tree and distributes the result from there.
class GroupTrees {
   public:
    /// Throws Error for groups with one member, members outside the tree, links that do not form a tree, and
    /// links without a reverse link.
    GroupTrees(const Fabric& fabric, std::span<const SwitchGroup> groups);

    [[nodiscard]] std::size_t group_count() const { return collectives_.size(); }
    [[nodiscard]] SwitchCollective collective(std::uint32_t group) const { return collectives_[group]; }
    [[nodiscard]] std::vector<TreeVertex>& vertices() { return vertices_; }
    [[nodiscard]] const std::vector<TreeVertex>& vertices() const { return vertices_; }
    [[nodiscard]] const TreeEntry& entry(std::uint32_t group, Node member) const;
    [[nodiscard]] std::span<const Node> members(std::uint32_t group) const { return members_[group]; }
    /// Assigns a separate window to each branch and member of a group, numbered from `first`. Returns the
    /// next unused number.
    std::uint32_t assign_windows(std::uint32_t group, std::uint32_t first);
    /// Adds to `turns` all turns of multicast packets.
    void add_turns(Turns& turns) const;

   private:
    class ReverseLinks;
    class Builder;

    std::vector<SwitchCollective> collectives_;    // [group]
    std::vector<std::vector<Node>> members_;       // [group], ascending
    std::vector<std::vector<TreeEntry>> entries_;  // [group][member]
    std::vector<TreeVertex> vertices_;
};

}  // namespace topoloom
