// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/grid_lines.hpp"

#include <algorithm>
#include <numeric>

namespace topoloom::grid {

std::size_t count_lines(const GridPoints& points) {
    const std::size_t axes = points.axes();
    return axes == 1 ? 1 : axes == 2 ? 4 : 12;
}

std::vector<std::uint32_t> list_line(const GridPoints& points, std::size_t i) {
    std::vector<std::size_t> axes(points.axes());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    for (std::size_t k = 0; k < i / 2; ++k) std::next_permutation(axes.begin(), axes.end());
    const bool to_and_fro = i % 2 == 1;
    std::vector<std::uint64_t> key(points.size());
    for (std::size_t p = 0; p < points.size(); ++p) {
        std::uint64_t sum = 0;  // sum of the slower coordinates, which is odd in every other row
        for (const std::size_t axis : axes) {
            const std::uint32_t x = points.at[p * points.axes() + axis];
            const std::uint32_t extent = points.extent[axis];
            key[p] = key[p] * extent + (to_and_fro && sum % 2 == 1 ? extent - 1 - x : x);
            sum += x;
        }
    }
    std::vector<std::uint32_t> order(points.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
    return order;
}

}  // namespace topoloom::grid
