// SPDX-License-Identifier: BSD-3-Clause
// A binomial tree over positions 0 .. count-1.
#pragma once

#include <algorithm>
#include <cstddef>

namespace topoloom {

/// Calls visit(child, below) for each child of a position; `below` positions from the child on are its subtree.
template <class Visit>
void each_binomial_child(std::size_t position, std::size_t count, const Visit& visit) {
    for (std::size_t h = 1; position + h < count && (position & h) == 0; h *= 2)
        visit(position + h, std::min(h, count - position - h));
}

/// Calls visit(parent, below) for the parent of a position, with its own subtree; 0 has none.
template <class Visit>
void with_binomial_parent(std::size_t position, std::size_t count, const Visit& visit) {
    if (position == 0) return;
    const std::size_t h = position & (~position + 1);
    visit(position - h, std::min(h, count - position));
}

}  // namespace topoloom
