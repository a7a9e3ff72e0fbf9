// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"

#include "pattern/dense_matrix.hpp"

using namespace topoloom;

namespace {

struct PointPair {
    double distance;
    std::size_t u;
    std::size_t v;
};

/// Distances between all pairs of the points that belong to this seed.
std::vector<PointPair> list_point_pairs(std::size_t n, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> x, y;
    for (std::size_t u = 0; u < n; ++u) {
        x.push_back(rng.uniform());
        y.push_back(rng.uniform());
    }
    std::vector<PointPair> pairs;
    for (std::size_t u = 0; u < n; ++u) {
        for (std::size_t v = u + 1; v < n; ++v) pairs.push_back({std::hypot(x[u] - x[v], y[u] - y[v]), u, v});
    }
    return pairs;
}

}  // namespace

TEST_CASE("exactly the pairs of points that are closer than some radius communicate") {
    for (const double degree : {0.5, 3.0, 6.0, 30.0, 190.0}) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            CAPTURE(degree);
            CAPTURE(seed);
            const auto matrix = to_dense_matrix(random_geometric(200, Bytes{5}, seed, degree));
            double longest_edge = 0;
            double shortest_gap = std::numeric_limits<double>::infinity();
            for (const PointPair& pair : list_point_pairs(200, seed)) {
                const Cell cell = matrix[pair.u][pair.v];
                if (cell.messages > 0) {
                    CHECK(cell == Cell{5, 1});
                    longest_edge = std::max(longest_edge, pair.distance);
                } else {
                    shortest_gap = std::min(shortest_gap, pair.distance);
                }
            }
            CHECK(longest_edge < shortest_gap);
            CHECK(transpose_matrix(matrix) == matrix);
        }
    }
}

TEST_CASE("the average degree is as requested") {
    for (const double degree : {2.0, 6.0, 20.0}) {
        const auto graph = random_geometric(50'000, Bytes{1}, 1, degree);
        CHECK(static_cast<double>(graph.edge_count()) / 50'000 == doctest::Approx(degree).epsilon(0.03));
    }
}

TEST_CASE("equal seeds give equal graphs, different seeds different ones") {
    const auto edges = [](std::uint64_t seed) {
        return to_dense_matrix(random_geometric(100, Bytes{1}, seed, 5));
    };
    CHECK(edges(1) == edges(1));
    CHECK(edges(1) != edges(2));
}

TEST_CASE("degree 0 gives no edges, and impossible degrees are refused") {
    CHECK(random_geometric(10, Bytes{1}, 1, 0).edge_count() == 0);
    CHECK(random_geometric(1, Bytes{1}, 1, 0).rank_count() == 1);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double degree : {-1.0, 9.0, nan, infinity}) {
        CHECK_THROWS_AS((void)random_geometric(10, Bytes{1}, 1, degree), Error);
    }
    CHECK_THROWS_AS((void)random_geometric(0, Bytes{1}, 1, 0), Error);
    CHECK_THROWS_AS((void)random_geometric(10, Bytes{-1}, 1, 1), Error);
    CHECK_THROWS_AS((void)random_geometric(std::size_t{1} << 40, Bytes{1}, 1, 6), Error);
}
