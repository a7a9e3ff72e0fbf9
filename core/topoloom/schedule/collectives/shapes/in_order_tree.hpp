// SPDX-License-Identifier: BSD-3-Clause
// A binary tree whose nodes are labeled in-order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// Labels are 1 .. count: lower labels in the left subtree, higher labels in the right. Odd labels are
/// leaves. Levels count from 0 at the root to height() at the leaves; in a tree that is not full, an edge may
/// skip levels.
class InOrderTree {
   public:
    explicit InOrderTree(std::size_t count) : count_(count) {}

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t root() const { return std::bit_floor(count_); }
    [[nodiscard]] std::uint64_t height() const {
        return static_cast<std::uint64_t>(std::bit_width(count_) - 1);
    }
    [[nodiscard]] std::uint64_t level(std::size_t label) const {
        return height() - static_cast<std::uint64_t>(std::countr_zero(label));
    }
    /// The parent of a label other than the root.
    [[nodiscard]] std::size_t parent(std::size_t label) const {
        const std::size_t bit = label & (~label + 1), lower = label - bit;
        const std::size_t in_full_tree = lower | (2 * bit);
        return in_full_tree <= count_ ? in_full_tree : lower;
    }
    template <class Visit>
    void each_child(std::size_t label, const Visit& visit) const {
        const std::size_t bit = label & (~label + 1);
        if (bit == 1) return;
        visit(label - bit / 2);
        const std::size_t right = std::min(bit - 1, count_ - label);
        if (right > 0) visit(label + std::bit_floor(right));
    }

   private:
    std::size_t count_;
};

}  // namespace topoloom
