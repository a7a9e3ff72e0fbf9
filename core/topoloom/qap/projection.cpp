// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/projection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "topoloom/qap/eigenvalues.hpp"
#include "topoloom/qap/symmetric.hpp"

namespace topoloom::qap {

namespace {

std::vector<std::int64_t> row_sums(std::size_t order, std::span<const std::int64_t> m) {
    std::vector<std::int64_t> sums;
    for (std::size_t i = 0; i < order; ++i) {
        const auto row = m.subspan(i * order, order);
        sums.push_back(std::reduce(row.begin(), row.end(), std::int64_t{0}));
    }
    return sums;
}

/// Returns the eigenvalues of the matrix projected onto the complement of (1, ..., 1). Reflects this vector
/// onto the last axis, and removes that axis.
Eigenvalues projected_eigenvalues(std::size_t order, std::span<const std::int64_t> m,
                                  std::span<const std::int64_t> sums) {
    // The reflection is I - v v' / h with v = (1, ..., 1, 1 + sqrt(n)) and h = n + sqrt(n).
    const auto n = static_cast<double>(order);
    const double last = 1 + std::sqrt(n);
    const double h = n + std::sqrt(n);
    std::vector<double> mv(order);
    double vmv = 0;
    for (std::size_t i = 0; i < order; ++i) {
        mv[i] = static_cast<double>(sums[i]) + std::sqrt(n) * static_cast<double>(m[i * order + order - 1]);
        vmv += (i + 1 == order ? last : 1) * mv[i];
    }
    const std::size_t less = order - 1;
    std::vector<double> reflected(less * less);
    for (std::size_t i = 0; i < less; ++i) {
        for (std::size_t j = 0; j < less; ++j)
            reflected[i * less + j] =
                static_cast<double>(m[i * order + j]) - (mv[i] + mv[j]) / h + vmv / (h * h);
    }
    Eigenvalues result = eigenvalues(less, std::move(reflected));
    double squares = 0;
    for (const std::int64_t entry : m) squares += static_cast<double>(entry) * static_cast<double>(entry);
    // The entries of the projected matrix are sums of at most `order` terms.
    result.error += 16 * n * n * std::numeric_limits<double>::epsilon() * std::sqrt(squares);
    return result;
}

double sum_absolute_values(const std::vector<double>& values) {
    return std::transform_reduce(values.begin(), values.end(), 0.0, std::plus(),
                                 [](double v) { return std::abs(v); });
}

}  // namespace

std::optional<std::int64_t> projection_bound(std::size_t order, std::span<const std::int64_t> a,
                                             std::span<const std::int64_t> b) {
    if (order > max_projection_order || !is_symmetric(order, a) || !is_symmetric(order, b)) return {};
    if (order == 1) return a[0] * b[0];
    std::vector<std::int64_t> a_sums = row_sums(order, a);
    std::vector<std::int64_t> b_sums = row_sums(order, b);
    const Eigenvalues of_a = projected_eigenvalues(order, a, a_sums);
    const Eigenvalues of_b = projected_eigenvalues(order, b, b_sums);
    const std::size_t less = order - 1;
    long double sum = 0;
    for (std::size_t i = 0; i < less; ++i)
        sum += static_cast<long double>(of_a.values[i]) * of_b.values[less - 1 - i];
    // The linear part is an assignment whose costs are products, so the minimum pairs the largest factors
    // with the smallest. Exact except for the division.
    std::ranges::sort(a_sums);
    std::ranges::sort(b_sums, std::greater());
    const auto a_total = static_cast<long double>(std::reduce(a_sums.begin(), a_sums.end()));
    const auto b_total = static_cast<long double>(std::reduce(b_sums.begin(), b_sums.end()));
    __extension__ using Wide = __int128;
    Wide products = 0;
    for (std::size_t i = 0; i < order; ++i) products += Wide{a_sums[i]} * b_sums[i];
    const auto n = static_cast<long double>(order);
    const long double linear = 2 * static_cast<long double>(products) / n;
    const long double constant = a_total * b_total / (n * n);
    sum += linear - constant;
    const double sizes_a = sum_absolute_values(of_a.values);
    const double sizes_b = sum_absolute_values(of_b.values);
    const double off =
        of_a.error * sizes_b + of_b.error * sizes_a + static_cast<double>(less) * of_a.error * of_b.error +
        1e-15 * static_cast<double>(std::abs(linear) + std::abs(constant)) + 1e-15 * (sizes_a * sizes_b);
    return static_cast<std::int64_t>(std::ceil(sum - off));
}

}  // namespace topoloom::qap
