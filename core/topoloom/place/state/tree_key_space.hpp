// SPDX-License-Identifier: BSD-3-Clause
// Distances on a tree network and the levels inside nodes, from the highest bit in which two keys differ.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// A slot's Point: the node's key in the high bits, the slot's key inside the node in the low bits.
class TreeKeySpace {
   public:
    using Point = Levels::Key;

    /// Whether all slots of a node are equally far from its port, and both keys together fit in 64 bits.
    [[nodiscard]] static bool fits(const Tree& tree, const NodeSpec& inside) {
        const Node last{tree.node_count() - 1};
        return inside.min_port_distance() == inside.max_port_distance() &&
               static_cast<int>(std::bit_width(tree.point(last))) + count_bits_inside_node(inside) <= 64;
    }

    /// Refers to both arguments.
    TreeKeySpace(const Tree& tree, const NodeSpec& inside)
        : tree_(&tree), inside_(&inside), bits_inside_(count_bits_inside_node(inside)) {
        for (int bit = 0; bit < 64; ++bit) {
            std::uint32_t& distance = distance_of_width_[static_cast<std::size_t>(bit) + 1];
            if (bit < bits_inside_) {
                distance = inside.levels.distance(0, Point{1} << bit);
            } else {
                distance = inside.hop_weight * tree.distance(0, Point{1} << (bit - bits_inside_)) +
                           2 * inside.min_port_distance();
            }
        }
    }

    [[nodiscard]] Point point(Slot slot) const {
        const std::uint32_t slots = inside_->levels.size();
        return tree_->point(Node{slot.value / slots}) << bits_inside_ |
               inside_->levels.key(slot.value % slots);
    }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const {
        return distance_of_width_[static_cast<std::size_t>(std::bit_width(a ^ b))];
    }

   private:
    [[nodiscard]] static int count_bits_inside_node(const NodeSpec& inside) {
        return static_cast<int>(std::bit_width(inside.levels.key(inside.levels.size() - 1)));
    }

    const Tree* tree_;
    const NodeSpec* inside_;
    int bits_inside_;
    std::array<std::uint32_t, 65> distance_of_width_{};
};

}  // namespace topoloom
