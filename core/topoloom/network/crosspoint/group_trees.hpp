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

/// A tree edge from a switch to another one, or to a member.
struct TreeBranch {
    ChannelId out;
    ChannelId in;                     // the way back
    std::uint32_t next = no_index;    // vertex there; none: a member
    std::uint32_t back = 0;           // its branch to here
    Node member = Node::none;         // behind this branch
    std::uint32_t window = no_index;  // of `out`, if the group has its own windows
    std::uint32_t combiner = 0;       // that waits for what comes from here
    std::uint64_t combined = 0;       // packets from here so far
};

/// State of a combining unit for a group. Operations are combined in order; at most a window of them may be
/// incomplete.
struct Combiner {
    struct Operation {
        std::uint32_t there = 0;  // parts that have come
        std::uint64_t message = 0;
    };
    std::uint32_t unit = 0;          // of the router
    std::uint32_t needed = 0;        // parts
    std::uint32_t above = no_index;  // the combiner that takes the result; none: it leaves the switch
    std::uint64_t combined = 0;      // results that the one above has taken
    std::uint64_t first = 0;         // operation whose result has not left
    std::vector<Operation> table{};  // [operation modulo its size]
};

/// A switch as a vertex of a tree.
struct TreeVertex {
    std::uint32_t group = 0;
    std::uint32_t router = 0;
    std::uint32_t lane = no_index;  // of the router's queues, if the group has its own windows
    std::uint32_t up = no_index;    // the branch that results leave by; none: they turn round here
    std::vector<TreeBranch> branches{};
    std::vector<Combiner> combiners{};
};

/// The point at which a member injects into its tree.
struct TreeEntry {
    ChannelId channel;
    std::uint32_t vertex = no_index;  // none: the node is not a member
    std::uint32_t branch = 0;         // by which the vertex leads to the member
    std::uint32_t window = no_index;
};

/// Vertices and branches are numbered over all groups. Reductions end at the root. Results of an all-reduce meet in
/// the center of the tree and turn round.
class GroupTrees {
   public:
    /// Throws Error for groups of one member, members outside the tree, links that form no tree, and links
    /// without a reverse link.
    GroupTrees(const Fabric& fabric, std::span<const SwitchGroup> groups);

    [[nodiscard]] std::size_t group_count() const { return collectives_.size(); }
    [[nodiscard]] SwitchCollective collective(std::uint32_t group) const { return collectives_[group]; }
    [[nodiscard]] std::vector<TreeVertex>& vertices() { return vertices_; }
    [[nodiscard]] const std::vector<TreeVertex>& vertices() const { return vertices_; }
    [[nodiscard]] const TreeEntry& entry(std::uint32_t group, Node member) const;
    [[nodiscard]] std::span<const Node> members(std::uint32_t group) const { return members_[group]; }
    /// Assigns each branch and member of a group its own window, numbered from `first`; returns the next number.
    std::uint32_t assign_windows(std::uint32_t group, std::uint32_t first);
    /// Adds the turns of multicast packets.
    void add_turns(Turns& turns) const;

   private:
    class Backs;
    class Builder;

    std::vector<SwitchCollective> collectives_;    // [group]
    std::vector<std::vector<Node>> members_;       // [group], in order
    std::vector<std::vector<TreeEntry>> entries_;  // [group][member]
    std::vector<TreeVertex> vertices_;
};

}  // namespace topoloom
