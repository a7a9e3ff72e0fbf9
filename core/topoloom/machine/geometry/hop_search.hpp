// SPDX-License-Identifier: BSD-3-Clause
// Hops of shortest paths in a graph, by breadth-first searches from many vertices at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/geometry/hop_table.hpp"

namespace topoloom {

/// A link from one row of a table to another.
struct RowLink {
    std::uint32_t from;
    std::uint32_t to;
};

/// Computes the hops from all `vertices` vertices to the first `ends` vertices over directed links. Element
/// [b * vertices + a] is the distance from a to b. Paths begin and end at any vertex, but pass only through
/// vertices that forward messages. Pairs without a path have HopTable::unreached. Processes O(ends * links /
/// 256) words in graphs of small diameter (Then et al., The More the Merrier: Efficient Multi-Source Graph
/// Traversal, VLDB 2014). Throws Error for distances above 65,534 and for tables that do not fit in memory.
[[nodiscard]] HopTable::Hops search_hops(std::size_t vertices, std::size_t ends,
                                         std::span<const RowLink> links, const std::vector<bool>& relays);

}  // namespace topoloom
