// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/gilmore_lawler.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "topoloom/base/parallel.hpp"
#include "topoloom/qap/linear_assignment.hpp"

namespace topoloom::qap {

namespace {

/// Every row without its diagonal entry, sorted.
template <class Order>
std::vector<std::int64_t> sorted_rows(std::size_t order, std::span<const std::int64_t> matrix,
                                      const Order& before) {
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < order; ++i) {
        const auto row = matrix.subspan(i * order, order);
        rows.insert(rows.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(i));
        rows.insert(rows.end(), row.begin() + static_cast<std::ptrdiff_t>(i + 1), row.end());
        std::sort(rows.end() - static_cast<std::ptrdiff_t>(order - 1), rows.end(), before);
    }
    return rows;
}

}  // namespace

std::int64_t gilmore_lawler_bound(std::size_t order, std::span<const std::int64_t> a,
                                  std::span<const std::int64_t> b, std::span<const std::int64_t> linear) {
    const auto heaviest_first = sorted_rows(order, a, std::greater());
    const auto nearest_first = sorted_rows(order, b, std::less());
    std::vector<std::int64_t> costs(order * order);
    parallel_for(order, 0, [&](std::size_t i, int) {
        const std::int64_t* const weights = heaviest_first.data() + i * (order - 1);
        for (std::size_t x = 0; x < order; ++x) {
            const std::int64_t* const distances = nearest_first.data() + x * (order - 1);
            costs[i * order + x] = std::inner_product(weights, weights + order - 1, distances,
                                                      a[i * order + i] * b[x * order + x]) +
                                   (linear.empty() ? 0 : linear[i * order + x]);
        }
    });
    return LinearAssignment<std::int64_t>().solve(costs, order);
}

}  // namespace topoloom::qap
