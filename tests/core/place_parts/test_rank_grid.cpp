// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/state/rank_grid.hpp"

using namespace topoloom;

namespace {

struct PatternOnMesh {
    explicit PatternOnMesh(CommGraph pattern)
        : graph(std::move(pattern)),
          machine(make_machine("torus:4x4x4")),
          allocation(Allocation::whole(machine)),
          problem(graph, allocation) {}
    CommGraph graph;
    Machine machine;
    Allocation allocation;
    Problem problem;
};

CommGraph grid_graph(bool periodic) {
    const std::vector<GridAxis> axes{{8, periodic}, {4, periodic}};
    return stencil(axes, StencilShape::star, Bytes{10});
}

}  // namespace

TEST_CASE("a given grid numbers ranks row by row, and has bytes for each axis") {
    const PatternOnMesh pattern(grid_graph(false));
    const RankGrid grid = rank_grid(pattern.problem, {8, 4}, "fold");
    CHECK(grid.extents == Extents{8, 4});
    CHECK(grid.rank_of_cell[5] == Rank{5});
    CHECK(grid.bytes == std::vector<double>{2 * 10 * 7 * 4, 2 * 10 * 8 * 3});
    CHECK(grid.wrap_bytes == std::vector<double>{0, 0});
    const PatternOnMesh periodic(grid_graph(true));
    CHECK(rank_grid(periodic.problem, {8, 4}, "fold").wrap_bytes ==
          std::vector<double>{2 * 10 * 4, 2 * 10 * 8});
}

TEST_CASE("without a given grid the recognized one is used") {
    const PatternOnMesh pattern(grid_graph(false));
    const RankGrid grid = rank_grid(pattern.problem, {}, "fold");
    CHECK(grid.extents == Extents{8, 4});
    CHECK(grid.bytes == std::vector<double>{2 * 10 * 7 * 4, 2 * 10 * 8 * 3});
}

TEST_CASE("a grid of another size, or ranks without a grid, are refused with a remedy") {
    const PatternOnMesh pattern(grid_graph(false));
    CHECK_THROWS_WITH_AS(
        (void)rank_grid(pattern.problem, {8, 5}, "fold"),
        "fold: a grid of 8x5 does not have the 32 cells that the ranks need; the nearest that does "
        "is 8x4",
        Error);
    CHECK_THROWS_AS((void)rank_grid(pattern.problem, {2147483647, 2147483647, 4}, "fold"), Error);
    const PatternOnMesh lone(CommGraph::from_edges(12, std::vector{Rank{0}, Rank{5}, Rank{5}},
                                                   std::vector{Rank{1}, Rank{2}, Rank{7}},
                                                   std::vector(3, Bytes{1})));
    CHECK_THROWS_WITH_AS((void)rank_grid(lone.problem, {}, "fold"),
                         "fold: the ranks form no grid that is recognized; say which, as in fold(grid=3x4)",
                         Error);
}

TEST_CASE("the nearest extents are a factorization of the number of ranks") {
    CHECK(nearest_extents({8, 5}, 32) == Extents{8, 4});
    CHECK(nearest_extents({10, 10, 10}, 1024) == Extents{8, 8, 16});
    CHECK(nearest_extents({7, 9}, 512) == Extents{16, 32});
    CHECK(nearest_extents({3}, 7) == Extents{7});
    CHECK(nearest_extents({4, 4}, 13) == Extents{1, 13});
}

TEST_CASE("a problem recognizes its pattern only once") {
    const Machine machine = make_machine("torus:4x6");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<GridAxis> axes{{6, true}, {4, true}};
    const CommGraph graph = stencil(axes, StencilShape::star, Bytes{8});
    const Problem problem(graph, allocation);
    const auto& pattern = problem.pattern();
    REQUIRE(pattern);
    CHECK(pattern->axes.front() == PatternAxis{6, AxisKind::ring});
    CHECK(&problem.pattern() == &pattern);
    CHECK(&problem.with_seed(2).pattern() == &pattern);
}
