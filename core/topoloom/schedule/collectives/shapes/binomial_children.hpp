// SPDX-License-Identifier: BSD-3-Clause
// A k-nomial tree over positions 0 .. count-1; radix 2 gives a binomial tree.
#pragma once

#include <algorithm>
#include <cstddef>

namespace topoloom {

/// Calls visit(child, below) for each child of a position; positions child .. child + below - 1 form its
/// subtree.
template <class Visit>
void each_binomial_child(std::size_t position, std::size_t count, const Visit& visit, std::size_t radix = 2) {
    for (std::size_t h = 1; position + h < count && position / h % radix == 0; h *= radix)
        for (std::size_t child = position + h; child < std::min(count, position + radix * h); child += h)
            visit(child, std::min(h, count - child));
}

/// Calls visit(parent, below) for the parent of a position; `below` is the size of the position's subtree.
/// Position 0 has no parent.
template <class Visit>
void with_binomial_parent(std::size_t position, std::size_t count, const Visit& visit,
                          std::size_t radix = 2) {
    if (position == 0) return;
    std::size_t h = 1;
    while (position / h % radix == 0) h *= radix;
    visit(position - position / h % radix * h, std::min(h, count - position));
}

}  // namespace topoloom
