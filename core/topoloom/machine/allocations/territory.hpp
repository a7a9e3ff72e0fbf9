// SPDX-License-Identifier: BSD-3-Clause
// The part of a network that belongs to an allocation: its routers and switches, and the pieces they form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// The vertices to which an allocation's nodes are attached; the switches that are one link away from these, where
/// nodes are vertices of their own; and what they enclose, so that nobody else's node is reached from there without
/// passing them. A switch is a vertex without a node. Two nodes are in one component if links between such vertices
/// lead from one to the other: neighbors on a torus, nodes on one switch of a tree, all nodes of a whole machine. Links
/// and nodes that are down do not count. Routers and switches with nodes of others, too, are held, but not owned.
class Territory {
   public:
    /// O(links).
    explicit Territory(const Allocation& allocation);

    [[nodiscard]] bool holds(std::uint32_t vertex) const { return held_[vertex] != 0; }
    /// Whether both ends of a link belong to the allocation.
    [[nodiscard]] bool holds(LinkEnds ends) const { return holds(ends.from) && holds(ends.to); }
    /// Whether both ends have only nodes of the allocation, or are enclosed by such, or an end is that of a node of the
    /// allocation through which no route passes.
    [[nodiscard]] bool owns(LinkEnds ends) const {
        return (owned_[ends.from] && owned_[ends.to]) || is_own_end(ends.from) || is_own_end(ends.to);
    }
    [[nodiscard]] std::size_t component_count() const { return component_count_; }
    /// For every node of the allocation the number of its component; they are numbered as they come.
    [[nodiscard]] std::span<const std::uint32_t> component_of_node() const { return component_of_node_; }

   private:
    [[nodiscard]] bool is_own_end(std::uint32_t vertex) const {
        return owned_[vertex] && ends_routes_[vertex];
    }

    std::vector<char> held_;  // by vertex, as are the next
    std::vector<char> owned_;
    std::vector<char> ends_routes_;
    std::vector<std::uint32_t> component_of_node_;
    std::size_t component_count_ = 0;
};

}  // namespace topoloom
