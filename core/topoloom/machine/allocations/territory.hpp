// SPDX-License-Identifier: BSD-3-Clause
// The part of a network that belongs to an allocation, and its connected components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// The vertices that an allocation uses: vertices with an allocated node, the switches one link away, and all
/// vertices that these enclose. A vertex is enclosed if all its paths to nodes of other jobs pass vertices
/// with an allocated node or these switches. A switch is a vertex without a node. Two nodes are in one
/// component if links between such vertices connect them: neighbors on a torus, nodes of one switch of a
/// tree. Links and nodes that are down are ignored. A vertex of the territory that also has nodes of other
/// jobs is held (see holds()), but not owned.
class Territory {
   public:
    /// O(links).
    explicit Territory(const Allocation& allocation);

    [[nodiscard]] bool holds(std::uint32_t vertex) const { return held_[vertex] != 0; }
    /// Whether both ends of a link belong to the allocation.
    [[nodiscard]] bool holds(LinkEnds ends) const { return holds(ends.from) && holds(ends.to); }
    /// Whether both ends are owned, or one end is an owned dead end: no route passes through this vertex.
    [[nodiscard]] bool owns(LinkEnds ends) const {
        return (owned_[ends.from] && owned_[ends.to]) || is_owned_dead_end(ends.from) ||
               is_owned_dead_end(ends.to);
    }
    [[nodiscard]] std::size_t component_count() const { return component_count_; }
    /// The component of each allocated node, numbered in order of appearance.
    [[nodiscard]] std::span<const std::uint32_t> component_of_node() const { return component_of_node_; }

   private:
    [[nodiscard]] bool is_owned_dead_end(std::uint32_t vertex) const {
        return owned_[vertex] && is_dead_end_[vertex];
    }

    std::vector<char> held_;  // [vertex], like the next two
    std::vector<char> owned_;
    std::vector<char> is_dead_end_;
    std::vector<std::uint32_t> component_of_node_;
    std::size_t component_count_ = 0;
};

}  // namespace topoloom
