// SPDX-License-Identifier: BSD-3-Clause
// The tree along which broadcasts and gathers run: recognized, and placed at the lowest cost that halving allows.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/place/grid/slot_grid.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// B_0 is one rank; B_j is two B_{j-1} whose roots talk. Numbered so that the 2^j ranks from every multiple of 2^j on
/// are a B_j whose root comes first.
struct BinomialTree {
    std::vector<Rank> rank_of_number;
    std::vector<double> bytes;  // [j]: of an edge that joins two B_j, on average
};

/// Recognizes a symmetric graph that is a binomial tree of at least eight ranks. O(ranks).
[[nodiscard]] std::optional<BinomialTree> find_binomial_tree(const CommGraph& symmetric);

/// Halves the box of routers again and again, along the axes and with the roots that together cost the least hop-bytes: a
/// dynamic program over all boxes of halved extents and all slots of the root, exact among such placements. All
/// 2^k slots are used; nothing if slots would be left, or if an extent or the slots of a router are not a power of
/// two. O(slots * axes^2).
[[nodiscard]] std::optional<std::vector<Slot>> place_binomial_tree(const BinomialTree& tree,
                                                                   const grid::SlotGrid& grid);

}  // namespace topoloom::structure
