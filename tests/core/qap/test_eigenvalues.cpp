// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of matrices with known spectra, and their error bounds.
#include <doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/qap/eigenvalues.hpp"
#include "topoloom/qap/projection.hpp"

using namespace topoloom;

namespace {

/// A matrix with these eigenvalues: the diagonal matrix, reflected at random vectors.
std::vector<double> make_matrix_with_eigenvalues(const std::vector<double>& values, Rng& rng) {
    const std::size_t n = values.size();
    std::vector<double> m(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) m[i * n + i] = values[i];
    for (int step = 0; step < 4; ++step) {
        std::vector<double> v(n);
        double squares = 0;
        for (double& x : v) squares += std::pow(x = rng.uniform() - 0.5, 2);
        for (int side = 0; side < 2; ++side) {
            for (std::size_t i = 0; i < n; ++i) {
                double dot = 0;
                for (std::size_t j = 0; j < n; ++j) dot += m[i * n + j] * v[j];
                for (std::size_t j = 0; j < n; ++j) m[i * n + j] -= 2 * dot * v[j] / squares;
            }
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < i; ++j) std::swap(m[i * n + j], m[j * n + i]);
            }
        }
    }
    return m;
}

std::vector<std::int64_t> random_symmetric(std::size_t n, std::uint32_t most, Rng& rng) {
    std::vector<std::int64_t> m(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j)
            m[i * n + j] = m[j * n + i] = static_cast<std::int64_t>(rng.below(most)) - most / 4;
    }
    return m;
}

}  // namespace

TEST_CASE("eigenvalues of a constructed matrix are found within the reported error") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Rng rng(seed);
        std::vector<double> values(1 + seed % 13 * 5);
        // Some eigenvalues are equal or zero, and they span many orders of magnitude.
        for (double& v : values)
            v = (rng.below(7) - 3.0) * std::pow(10.0, rng.below(static_cast<std::uint32_t>(seed % 6) + 1));
        const qap::Eigenvalues found =
            qap::eigenvalues(values.size(), make_matrix_with_eigenvalues(values, rng));
        std::ranges::sort(values);
        for (std::size_t i = 0; i < values.size(); ++i)
            CHECK(std::abs(found.values[i] - values[i]) <= found.error);
    }
    CHECK(qap::eigenvalues(0, {}).values.empty());
}

TEST_CASE("the Laplacian of a ring has the eigenvalues of a ring") {
    const std::size_t n = 50;
    std::vector<double> laplacian(n * n, 0);
    std::vector<double> expected;
    for (std::size_t i = 0; i < n; ++i) {
        laplacian[i * n + i] = 2;
        laplacian[i * n + (i + 1) % n] = laplacian[(i + 1) % n * n + i] = -1;
        expected.push_back(2 - 2 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / n));
    }
    std::ranges::sort(expected);
    const qap::Eigenvalues found = qap::eigenvalues(n, laplacian);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(found.values[i] - expected[i]) <= found.error);
    CHECK(found.error < 1e-8);
}

TEST_CASE("the eigenvalues of matrices of low rank with a zero diagonal converge") {
    const std::size_t n = 130;
    std::vector<double> star(n * n, 0);
    for (std::size_t i = 1; i < n; ++i) star[i] = star[i * n] = 7;
    const qap::Eigenvalues found = qap::eigenvalues(n, star);
    CHECK(std::abs(found.values.front() + 7 * std::sqrt(n - 1.0)) <= found.error);
    CHECK(std::abs(found.values[n / 2]) <= found.error);
    CHECK(std::abs(found.values.back() - 7 * std::sqrt(n - 1.0)) <= found.error);
    Rng rng(5);
    std::vector<double> sparse(n * n, 0);
    for (int k = 0; k < 200; ++k) {
        const std::size_t i = rng.below(n);
        const std::size_t j = rng.below(n);
        sparse[i * n + j] = sparse[j * n + i] = rng.below(3);
    }
    const qap::Eigenvalues of_sparse = qap::eigenvalues(n, sparse);
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += sparse[i * n + i] - of_sparse.values[i];
    CHECK(std::abs(trace) <= n * of_sparse.error);
}

TEST_CASE("the projection bound is at most the optimum, and exact if one matrix is constant") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Rng rng(seed);
        const std::size_t n = 1 + seed % 7;
        const auto a = random_symmetric(n, seed % 2 == 0 ? 5 : 1000, rng);
        const auto b = random_symmetric(n, 100, rng);
        std::vector<std::size_t> p(n);
        std::iota(p.begin(), p.end(), std::size_t{0});
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        do {
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) sum += a[i * n + j] * b[p[i] * n + p[j]];
            }
            least = std::min(least, sum);
        } while (std::ranges::next_permutation(p).found);
        CHECK(qap::projection_bound(n, a, b).value() <= least);
        const std::vector<std::int64_t> same(n * n, 3);
        CHECK(qap::projection_bound(n, a, same).value() ==
              3 * std::accumulate(a.begin(), a.end(), std::int64_t{0}));
    }
    CHECK(!qap::projection_bound(2, std::vector<std::int64_t>{0, 1, 2, 0},
                                 std::vector<std::int64_t>{0, 1, 1, 0}));
}
