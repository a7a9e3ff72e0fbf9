// SPDX-License-Identifier: BSD-3-Clause
// The slots of an allocation, grouped by the network point of their node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::near {

/// A site contains the allocated nodes at one network point: a router of a torus, a leaf of a tree, or a row
/// of a hop table. All its nodes are equally far from the nodes of any other site. Sites are in the order of
/// their points, nodes of a site and slots of a node in ascending order.
class SlotSites {
   public:
    explicit SlotSites(const Allocation& allocation);

    [[nodiscard]] std::size_t size() const { return first_slot_.size() - 1; }
    [[nodiscard]] std::size_t slot_count(std::uint32_t site) const {
        return first_slot_[site + 1] - first_slot_[site];
    }
    [[nodiscard]] std::span<const Position> slots() const { return slots_; }
    [[nodiscard]] std::span<const Position> slots(std::uint32_t site) const {
        return std::span(slots_).subspan(first_slot_[site], slot_count(site));
    }
    /// The allocated nodes of a site.
    [[nodiscard]] std::span<const Node> nodes(std::uint32_t site) const {
        return std::span(nodes_).subspan(first_node_[site], first_node_[site + 1] - first_node_[site]);
    }

    /// A node of the allocation, given by its index in Allocation::nodes().
    struct NodeSlots {
        std::uint32_t site;
        std::span<const Position> slots;
    };
    [[nodiscard]] NodeSlots node(std::uint32_t index) const {
        const NodeRange& range = range_of_node_[index];
        return {range.site, std::span(slots_).subspan(range.first, range.count)};
    }

   private:
    struct NodeRange {
        std::uint32_t site = 0;
        std::uint32_t first = 0;  // index of the node's first slot in slots_
        std::uint32_t count = 0;
    };

    std::vector<Position> slots_;            // by site, then node
    std::vector<Node> nodes_;                // by site
    std::vector<std::uint32_t> first_slot_;  // by site: index in slots_
    std::vector<std::uint32_t> first_node_;  // by site: index in nodes_
    std::vector<NodeRange> range_of_node_;   // by index in Allocation::nodes()
};

}  // namespace topoloom::near
