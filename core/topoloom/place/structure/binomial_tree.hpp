// SPDX-License-Identifier: BSD-3-Clause
// Recognizes the binomial tree of bcasts and gathers, and places it by optimal halving.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/place/grid/slot_grid.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::structure {

/// B_0 is one rank; B_j is two B_{j-1} with connected roots. In this numbering, the 2^j ranks that begin at
/// any multiple of 2^j form a B_j, root first.
struct BinomialTree {
    std::vector<Rank> rank_of_number;
    std::vector<double> bytes;  // [j]: mean bytes of the edges that join two B_j
};

/// Recognizes a symmetric graph that is a binomial tree of at least eight ranks. O(ranks).
[[nodiscard]] std::optional<BinomialTree> find_binomial_tree(const CommGraph& symmetric);

/// Halves the box of routers repeatedly, along the axes and with the roots that give the fewest total
/// hop-bytes. A dynamic program over all boxes of halved extents and all root positions finds the optimum of
/// such placements. None if slots would remain free, or if an extent or the number of slots per router is not
/// a power of two. O(slots * axes^2).
[[nodiscard]] std::optional<std::vector<Slot>> place_binomial_tree(const BinomialTree& tree,
                                                                   const grid::SlotGrid& grid);

}  // namespace topoloom::structure
