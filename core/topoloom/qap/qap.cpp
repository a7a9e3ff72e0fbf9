// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/qap/symmetric.hpp"

namespace topoloom::qap {

namespace {

constexpr double most = 0x1.0p60;

double max_absolute_entry(std::span<const std::int64_t> matrix) {
    double found = 0;
    for (const std::int64_t v : matrix) found = std::max(found, std::abs(static_cast<double>(v)));
    return found;
}

double sum_absolute_values(std::span<const std::int64_t> matrix) {
    double sum = 0;
    for (const std::int64_t v : matrix) sum += std::abs(static_cast<double>(v));
    return sum;
}

std::vector<std::int64_t> remove_diagonal(std::size_t order, std::vector<std::int64_t>& m) {
    std::vector<std::int64_t> diagonal;
    for (std::size_t i = 0; i < order; ++i) {
        diagonal.push_back(m[i * order + i]);
        m[i * order + i] = 0;
    }
    return diagonal;
}

void add_transpose(std::size_t order, std::vector<std::int64_t>& m) {
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < i; ++j) m[i * order + j] = m[j * order + i] += m[i * order + j];
    }
}

std::int64_t common_factor(std::span<const std::int64_t> m) {
    std::int64_t factor = 0;
    for (const std::int64_t v : m) factor = std::gcd(factor, v);
    return factor;
}

void divide_entries(std::vector<std::int64_t>& m, std::int64_t factor) {
    for (std::int64_t& v : m) v /= factor;
}

std::vector<std::int64_t> add_diagonals(std::vector<std::int64_t> linear, const std::vector<std::int64_t>& aa,
                                        const std::vector<std::int64_t>& bb) {
    const std::size_t n = aa.size();
    if (linear.empty()) linear.resize(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t x = 0; x < n; ++x) linear[i * n + x] += aa[i] * bb[x];
    }
    if (std::ranges::all_of(linear, [](std::int64_t v) { return v == 0; })) linear.clear();
    return linear;
}

double max_line_sum(std::size_t order, std::span<const std::int64_t> m) {
    double found = 0;
    for (std::size_t i = 0; i < order; ++i) {
        double row = 0;
        double column = 0;
        for (std::size_t j = 0; j < order; ++j) {
            row += std::abs(static_cast<double>(m[i * order + j]));
            column += std::abs(static_cast<double>(m[j * order + i]));
        }
        found = std::max({found, row, column});
    }
    return found;
}

/// Returns the largest absolute entries of lines: element k is the maximum over all rows, and over all columns
/// if `columns`, of their k-th largest absolute entry.
std::vector<double> max_sorted_line(std::size_t order, std::span<const std::int64_t> m, bool columns) {
    std::vector<double> greatest(order, 0);
    std::vector<double> line(order);
    const auto take_line = [&] {
        std::ranges::sort(line, std::greater<>());
        for (std::size_t k = 0; k < order; ++k) greatest[k] = std::max(greatest[k], line[k]);
    };
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < order; ++j) line[j] = std::abs(static_cast<double>(m[i * order + j]));
        take_line();
        for (std::size_t j = 0; j < order; ++j) line[j] = std::abs(static_cast<double>(m[j * order + i]));
        if (columns) take_line();
    }
    return greatest;
}

/// Bounds the costs of two items before and after an exchange by the scalar product of sorted lines
/// (rearrangement inequality).
std::int64_t bound_exchange_deltas(const NormalizedQap& form) {
    const std::vector<double> a = max_sorted_line(form.order, form.a, !form.symmetric);
    const std::vector<double> b = max_sorted_line(form.order, form.b, !form.symmetric);
    const double cost = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    const bool nonnegative = std::ranges::min(form.a) >= 0 && std::ranges::min(form.b) >= 0;
    const double bound =
        (form.symmetric ? 2 : 4) * (nonnegative ? 1 : 2) * cost + 4 * max_absolute_entry(form.linear);
    return static_cast<std::int64_t>(std::min(bound, most));
}

}  // namespace

Qap::Qap(std::size_t order, std::vector<std::int64_t> a, std::vector<std::int64_t> b,
         std::vector<std::int64_t> linear)
    : order_(order), a_(std::move(a)), b_(std::move(b)), linear_(std::move(linear)) {
    if (order == 0) fail("a quadratic assignment problem needs at least one item");
    if (a_.size() != order * order || b_.size() != order * order) {
        fail("matrices of order ", order, " have ", order * order, " entries; these have ", a_.size(),
             " and ", b_.size());
    }
    if (!linear_.empty() && linear_.size() != order * order)
        fail("linear costs of order ", order, " have ", order * order, " entries, not ", linear_.size());
    const double together = std::min(sum_absolute_values(a_) * max_absolute_entry(b_),
                                     sum_absolute_values(b_) * max_absolute_entry(a_));
    if (together + static_cast<double>(order) * max_absolute_entry(linear_) > most)
        fail("the value of the assignment could exceed 2^60; scale one of the matrices down");
}

std::int64_t Qap::value(std::span<const std::uint32_t> p) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < order_; ++i) {
        sum += linear(i, p[i]);
        for (std::size_t j = 0; j < order_; ++j) sum += a(i, j) * b(p[i], p[j]);
    }
    return sum;
}

void require_permutation(std::span<const std::uint32_t> p, std::size_t order) {
    std::vector<char> seen(order, false);
    if (p.size() != order) fail("the assignment has ", p.size(), " items, but the problem has ", order);
    for (const std::uint32_t x : p) {
        if (x >= order) fail("the assignment uses location ", x, " of ", order);
        if (seen[x]) fail("the assignment uses location ", x, " twice");
        seen[x] = true;
    }
}

NormalizedQap::NormalizedQap(const Qap& qap)
    : order(qap.order()),
      a(qap.a().begin(), qap.a().end()),
      b(qap.b().begin(), qap.b().end()),
      linear(qap.linear().begin(), qap.linear().end()) {
    const std::vector<std::int64_t> aa = remove_diagonal(order, a);
    linear = add_diagonals(std::move(linear), aa, remove_diagonal(order, b));
    const bool a_symmetric = is_symmetric(order, a);
    symmetric = a_symmetric || is_symmetric(order, b);
    if (symmetric) add_transpose(order, a_symmetric ? b : a);
    const std::int64_t of_a = std::max<std::int64_t>(1, common_factor(a));
    const std::int64_t of_b = std::max<std::int64_t>(1, common_factor(b));
    factor = std::gcd(of_a * of_b, common_factor(linear));
    divide_entries(a, std::gcd(of_a, factor));
    divide_entries(b, factor / std::gcd(of_a, factor));
    divide_entries(linear, factor);
    max_delta = bound_exchange_deltas(*this);
    const double both = (symmetric ? 1 : 2) * std::min(max_line_sum(order, a) * max_absolute_entry(b),
                                                       max_line_sum(order, b) * max_absolute_entry(a));
    const double bound =
        24 * std::max(both, max_absolute_entry(a) * max_absolute_entry(b)) + 8 * max_absolute_entry(linear);
    magnitude = bound < most ? static_cast<std::int64_t>(bound) : static_cast<std::int64_t>(most);
}

std::vector<std::uint32_t> twin_classes(std::size_t order, std::span<const std::int64_t> m,
                                        std::span<const std::int64_t> linear) {
    const auto at = [&](std::size_t i, std::size_t j) { return m[i * order + j]; };
    // Checksums of rows and columns exclude nearly all pairs of indices in O(1). Any odd numbers can be
    // weights of a checksum.
    const auto weight = [](std::size_t k) {
        return (2 * static_cast<std::uint64_t>(k) + 1) * 0x9E3779B97F4A7C15U;
    };
    const auto term = [&](std::size_t i, std::size_t k) {
        return static_cast<std::uint64_t>(at(i, k)) * (weight(k) ^ weight(k) >> 29) +
               static_cast<std::uint64_t>(at(k, i)) * (weight(k) ^ weight(k) >> 31);
    };
    const auto row = [&](std::size_t i) {
        return linear.empty() ? linear : linear.subspan(i * order, order);
    };
    std::vector<std::uint64_t> checksum(order, 0);
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t k = 0; k < order; ++k) checksum[i] += k == i ? 0 : term(i, k);
        for (std::size_t k = 0; k < row(i).size(); ++k)
            checksum[i] += static_cast<std::uint64_t>(row(i)[k]) * weight(k);
    }
    const auto twins = [&](std::size_t i, std::size_t j) {
        if (at(i, j) != at(j, i) || at(i, i) != at(j, j)) return false;
        if (checksum[i] - term(i, j) != checksum[j] - term(j, i)) return false;
        for (std::size_t k = 0; k < order; ++k) {
            if (k != i && k != j && (at(i, k) != at(j, k) || at(k, i) != at(k, j))) return false;
        }
        return std::ranges::equal(row(i), row(j));
    };
    std::vector<std::uint32_t> classes;
    std::vector<std::uint32_t> firsts;
    for (std::uint32_t i = 0; i < order; ++i) {
        const auto found =
            std::find_if(firsts.begin(), firsts.end(), [&](std::uint32_t first) { return twins(first, i); });
        classes.push_back(found == firsts.end() ? i : *found);
        if (found == firsts.end()) firsts.push_back(i);
    }
    return classes;
}

}  // namespace topoloom::qap
