// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

#include "pattern/dense_matrix.hpp"

using namespace topoloom;

namespace {

using Grid = std::vector<GridAxis>;

std::vector<int> coordinates(const Grid& grid, std::size_t rank) {
    std::vector<int> at(grid.size());
    for (std::size_t axis = grid.size(); axis-- > 0;) {
        at[axis] = static_cast<int>(rank % grid[axis].extent);
        rank /= grid[axis].extent;
    }
    return at;
}

/// Reference: how many neighbors of u in the stencil are v.
int count_neighbors(const Grid& grid, StencilShape shape, std::size_t u, std::size_t v) {
    const auto from = coordinates(grid, u);
    const auto to = coordinates(grid, v);
    std::size_t steps = 1;
    for (std::size_t axis = 0; axis < grid.size(); ++axis) steps *= 3;
    int found = 0;
    for (std::size_t code = 0; code < steps; ++code) {
        std::size_t rest = code;
        int moved = 0;
        bool same = true;
        for (std::size_t axis = 0; axis < grid.size(); ++axis) {
            const int step = static_cast<int>(rest % 3) - 1;
            rest /= 3;
            moved += step != 0 ? 1 : 0;
            const int extent = static_cast<int>(grid[axis].extent);
            const int there = from[axis] + step;
            same = same && (grid[axis].periodic ? (there + extent) % extent : there) == to[axis];
        }
        if (same && moved > 0 && (shape == StencilShape::box || moved == 1)) ++found;
    }
    return found;
}

Dense reference_stencil(const Grid& grid, StencilShape shape, std::int64_t bytes) {
    std::size_t rank_count = 1;
    for (const GridAxis& axis : grid) rank_count *= axis.extent;
    Dense matrix = empty_matrix(rank_count);
    for (std::size_t u = 0; u < rank_count; ++u) {
        for (std::size_t v = 0; v < rank_count; ++v) {
            const int count = u == v ? 0 : count_neighbors(grid, shape, u, v);
            matrix[u][v] = {count * bytes, count};
        }
    }
    return matrix;
}

}  // namespace

TEST_CASE("a stencil joins the same pairs as an exhaustive check") {
    const std::vector<std::vector<std::uint32_t>> shapes{{1},       {2},       {5},       {1, 1},
                                                         {2, 2},    {3, 4},    {1, 5},    {4, 1, 2},
                                                         {2, 3, 4}, {3, 3, 3}, {2, 1, 2}, {2, 3, 2, 3}};
    for (const auto& extents : shapes) {
        for (std::uint32_t wraps = 0; wraps < (1U << extents.size()); ++wraps) {
            Grid grid;
            for (std::size_t axis = 0; axis < extents.size(); ++axis) {
                grid.push_back({extents[axis], (wraps >> axis & 1) != 0});
            }
            for (const StencilShape shape : {StencilShape::star, StencilShape::box}) {
                CAPTURE(extents);
                CAPTURE(wraps);
                CHECK(to_dense_matrix(stencil(grid, shape, Bytes{10})) == reference_stencil(grid, shape, 10));
            }
        }
    }
}

TEST_CASE("an inner rank of the usual stencils has 4, 8, 6 and 26 neighbors") {
    const auto degree = [](const Grid& grid, StencilShape shape) {
        return stencil(grid, shape, Bytes{1}).degree(Rank{0});
    };
    CHECK(degree({{5}, {5}}, StencilShape::star) == 4);
    CHECK(degree({{5}, {5}}, StencilShape::box) == 8);
    CHECK(degree({{5}, {5}, {5}}, StencilShape::star) == 6);
    CHECK(degree({{5}, {5}, {5}}, StencilShape::box) == 26);
}

TEST_CASE("the last axis varies fastest") {
    const auto graph = stencil(Grid{{2, false}, {3, false}}, StencilShape::star, Bytes{1});
    const auto peers = graph.peers(Rank{0});
    CHECK(std::vector(peers.begin(), peers.end()) == std::vector{Rank{1}, Rank{3}});
}

TEST_CASE(
    "on a periodic axis of extent two both messages go to the same rank, and on extent one none is sent") {
    const auto pair = stencil(Grid{{2}}, StencilShape::star, Bytes{100});
    CHECK(pair.edge_count() == 2);
    CHECK(pair.bytes(Rank{0})[0] == Bytes{200});
    CHECK(pair.messages(Rank{0})[0] == 2);
    const auto alone = stencil(Grid{{1}, {1}}, StencilShape::box, Bytes{100});
    CHECK(alone.rank_count() == 1);
    CHECK(alone.edge_count() == 0);
    CHECK(alone.self_messages(Rank{0}) == 0);
}

TEST_CASE("the number of points selects the shape: 5 or 9 in 2-D, 7 or 27 in 3-D") {
    CHECK(stencil_shape(2, 5) == StencilShape::star);
    CHECK(stencil_shape(2, 9) == StencilShape::box);
    CHECK(stencil_shape(3, 7) == StencilShape::star);
    CHECK(stencil_shape(3, 27) == StencilShape::box);
    CHECK(stencil_shape(4, 81) == StencilShape::box);
    CHECK_THROWS_WITH_AS((void)stencil_shape(3, 5),
                         "no stencil in 3 dimensions has 5 points; there are: 7 (star), 27 (box)", Error);
}

TEST_CASE("impossible grids are refused") {
    const auto make = [](const Grid& grid, StencilShape shape, std::int64_t bytes) {
        (void)stencil(grid, shape, Bytes{bytes});
    };
    CHECK_THROWS_AS(make({}, StencilShape::star, 1), Error);
    CHECK_THROWS_WITH_AS(make({{4}, {0}}, StencilShape::star, 1),
                         "the grid 4x0 has an extent of 0; give at least 1", Error);
    CHECK_THROWS_AS(make({{65'536}, {65'536}}, StencilShape::star, 1), Error);
    CHECK_THROWS_AS(make({{4'000'000'000U}, {4'000'000'000U}, {2}}, StencilShape::star, 1), Error);
    CHECK_THROWS_AS(make({{4}}, StencilShape::star, -1), Error);
    CHECK_THROWS_AS(make(Grid(11), StencilShape::box, 1), Error);
    CHECK_THROWS_AS(make(Grid(33), StencilShape::star, 1), Error);
    CHECK_THROWS_AS(make({{2}}, StencilShape::star, std::int64_t{1} << 62), Error);
    CHECK_NOTHROW(make(Grid(32), StencilShape::star, 1));
}
