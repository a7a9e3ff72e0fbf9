// SPDX-License-Identifier: BSD-3-Clause
// Fills in empty lists of a topology spec, with one entry per axis or level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

/// Fills an empty list with `count` default values. For any other length, throws Error with a message such as
/// "a torus of 2 axes needs 2 entries of wrap, not 1".
template <class T>
void complete_list(std::vector<T>& values, std::size_t count, const T& standard, std::string_view what,
                   std::string_view topology, std::string_view parts) {
    if (values.empty()) values.assign(count, standard);
    if (values.size() == count) return;
    fail("a ", topology, " of ", count, " ", parts, " needs ", count, " entries of ", what, ", not ",
         values.size());
}

/// Fills an empty order with 0, 1, 2 ... Throws Error unless the order contains each axis exactly once.
inline void complete_order(std::vector<std::uint32_t>& order, std::size_t axes, std::string_view topology) {
    if (order.empty()) {
        order.resize(axes);
        std::iota(order.begin(), order.end(), 0U);
    }
    std::vector<std::uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t d = 0; d < sorted.size(); ++d) {
        if (sorted[d] != d) sorted.clear();
    }
    if (sorted.size() != axes) fail("the routing order must name each axis of the ", topology, " once");
}

}  // namespace topoloom
