// SPDX-License-Identifier: BSD-3-Clause
// Every node gets a compact tile of the grid of ranks.
#include <doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/node_map.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/grid/node_blocking.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

using Cells = std::vector<GridCell>;

CommGraph grid_graph(const Extents& extents, bool periodic = false, StencilShape shape = StencilShape::star) {
    std::vector<GridAxis> axes;
    for (const std::uint32_t extent : extents) axes.push_back({extent, periodic});
    return stencil(axes, shape, Bytes{10});
}

/// A grid with `first_axis_bytes` per message along the first axis, and 10 bytes along the second.
CommGraph weighted_grid(std::uint32_t rows, std::uint32_t columns, std::int64_t first_axis_bytes) {
    std::vector<Rank> from;
    std::vector<Rank> to;
    std::vector<Bytes> of;
    const auto talk = [&](std::uint32_t a, std::uint32_t b, std::int64_t size) {
        from.insert(from.end(), {Rank{a}, Rank{b}});
        to.insert(to.end(), {Rank{b}, Rank{a}});
        of.insert(of.end(), 2, Bytes{size});
    };
    for (std::uint32_t cell = 0; cell < rows * columns; ++cell) {
        if (cell + columns < rows * columns) talk(cell, cell + columns, first_axis_bytes);
        if ((cell + 1) % columns != 0) talk(cell, cell + 1, 10);
    }
    return CommGraph::from_edges(rows * columns, from, to, of);
}

std::int64_t count_inter_node_bytes(const CommGraph& graph, const Machine& machine,
                                    std::span<const Slot> slots) {
    std::vector<Node> nodes;
    for (const Slot slot : slots) nodes.push_back(machine.node(slot));
    return grid::inter_node_bytes(graph, nodes, 1);
}

/// A mapper's placement, and its inter-node bytes.
struct TilePlacement {
    TilePlacement(const CommGraph& graph, const Allocation& allocation, std::string_view mapper)
        : slots(place(Problem(graph, allocation, 1, 1), mapper).placement),
          bytes(count_inter_node_bytes(graph, allocation.machine(), slots.slots())) {}
    Placement slots;
    std::int64_t bytes;
};

/// Nodes with different numbers of slots.
Allocation uneven_allocation(const Machine& machine, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<Slot> slots;
    for (std::uint32_t node = 0; node < machine.node_count(); ++node) {
        const std::uint32_t most = machine.slots_per_node();
        for (std::uint32_t i = rng.below(most); i < most; ++i) slots.push_back(machine.slot(Node{node}, i));
    }
    return Allocation::of_slots(machine, std::move(slots));
}

bool is_permutation_of(Cells cells, std::size_t count) {
    std::ranges::sort(cells);
    return cells == id_list<GridCell>(count);
}

}  // namespace

TEST_CASE("tiles divide the grid, and the one with the least surface is first") {
    const auto best = [](const Extents& grid, std::uint64_t cores) {
        return grid::node_tiles({grid, std::vector<double>(grid.size(), 1.0)}, cores).front();
    };
    CHECK(best({64, 64}, 8) == Extents{2, 4});
    CHECK(best({60, 60}, 12) == Extents{3, 4});
    CHECK(best({8, 8, 8}, 8) == Extents{2, 2, 2});
    CHECK(best({12, 12, 12}, 12) == Extents{2, 2, 3});
    CHECK(best({6, 50}, 12) == Extents{6, 2});  // 3x4 and 4x3 do not divide the grid
    CHECK(best({64, 64}, 2) == Extents{1, 2});
    CHECK(grid::node_tiles({{100, 200}, {1, 1}}, 12).empty());
    CHECK(grid::node_tiles({{64, 64}, {1, 1}}, 7).empty());
    // Tiles are rows of 8 if messages along rows are heavy.
    CHECK(grid::node_tiles({{64, 64}, {1, 100}}, 8).front() == Extents{1, 8});
    CHECK_THROWS_AS((void)grid::node_tiles({{4, 4}, {1, 1}}, 0), Error);
}

TEST_CASE("the order by tiles equals the permutation of the published algorithm 5.12") {
    const std::uint32_t p_1 = 12, p_2 = 6, k_1 = 4, k_2 = 3;  // columns and rows, of the grid and of a tile
    std::vector<std::uint32_t> published;
    for (std::uint32_t r = 0; r < p_2; ++r) {
        std::uint32_t i = 0;
        for (std::uint32_t c = 0; c < p_1; ++c) {
            i = c % k_1 == 0 ? r % k_2 * k_1 + r / k_2 * p_1 * k_2 + c / k_1 * k_1 * k_2 : i + 1;
            published.push_back(i);
        }
    }
    const Cells order = grid::order_by_tiles({p_2, p_1}, {k_2, k_1});
    for (std::uint32_t i = 0; i < order.size(); ++i) CHECK(published[order[i].value] == i);
}

TEST_CASE("every order of cells is a permutation, and consecutive cells of strips are neighbors") {
    for (const Extents& grid : {Extents{12, 10}, {7, 5, 3}, {13}, {2, 3, 4, 5}, {1, 6}}) {
        const std::size_t cells = std::accumulate(grid.begin(), grid.end(), 1U, std::multiplies<>{});
        const grid::WeightedGrid weighted{grid, std::vector<double>(grid.size(), 1.0)};
        CHECK(is_permutation_of(grid::order_by_tiles(grid, grid), cells));
        CHECK(is_permutation_of(grid::order_by_halving(weighted), cells));
        for (std::size_t along = 0; along < grid.size(); ++along) {
            Extents strips(grid.size(), 2);
            for (std::size_t i = 0; i < grid.size(); ++i) strips[i] = std::min(strips[i], grid[i]);
            std::vector<std::size_t> axes(grid.size());
            std::iota(axes.begin(), axes.end(), std::size_t{0});
            std::swap(axes[0], axes[along]);
            CHECK(is_permutation_of(grid::order_by_strips(grid, axes, strips), cells));
        }
        Cells halves = id_list<GridCell>(cells);
        const std::vector<std::uint32_t> sizes{static_cast<std::uint32_t>(cells) / 2, 0,
                                               static_cast<std::uint32_t>(cells + 1) / 2};
        grid::bisect_cells(weighted, halves, sizes);
        CHECK(is_permutation_of(halves, cells));
    }
    const Cells order = grid::order_by_strips({9, 8}, {0, 1}, {1, 4});
    std::size_t steps = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const auto [a, b] = std::minmax(order[i - 1].value, order[i].value);
        steps += b - a == 8 || (b - a == 1 && a / 8 == b / 8) ? 1 : 0;
    }
    CHECK(steps == order.size() - 1);
}

TEST_CASE("a 4x4 grid on 4 nodes of 4 cores is cut into 2x2 tiles") {
    const Machine machine = make_machine("torus:4+node:4");
    const Allocation whole = Allocation::whole(machine);
    const CommGraph graph = grid_graph({4, 4});
    const TilePlacement tiles(graph, whole, "tile");
    CHECK(tiles.bytes == 4 * 4 * 10);
    CHECK(TilePlacement(graph, whole, "block").bytes == 3 * 4 * 2 * 10);
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t rank : {0, 1, 4, 5}) nodes.insert(machine.node(tiles.slots[Rank{rank}]).value);
    CHECK(nodes.size() == 1);
}

TEST_CASE("for small grids, no assignment has fewer inter-node bytes than tile") {
    const Machine machine = make_machine("torus:3+node:4");
    const Allocation whole = Allocation::whole(machine);
    for (const auto& graph : {grid_graph({3, 4}), grid_graph({2, 6}), grid_graph({3, 4}, true),
                              weighted_grid(3, 4, 35), grid_graph({3, 4}, false, StencilShape::box)}) {
        std::vector<Node> nodes;
        for (std::uint32_t cell = 0; cell < 12; ++cell) nodes.emplace_back(cell / 4);
        std::int64_t least = grid::inter_node_bytes(graph, nodes, 1);
        while (std::ranges::next_permutation(nodes).found)
            least = std::min(least, grid::inter_node_bytes(graph, nodes, 1));
        const std::string grid = graph.edge_count() == grid_graph({2, 6}).edge_count() ? "2x6" : "3x4";
        CHECK(TilePlacement(graph, whole, "tile(grid=" + grid + ")").bytes == least);
    }
}

TEST_CASE("tile is never worse than block order, on nodes of any sizes, with and without spare slots") {
    for (const std::string text : {"torus:3x4+node:7", "fattree:4:2+node:5", "torus:20+node:12"}) {
        const Machine machine = make_machine(text);
        for (std::uint64_t seed = 1; seed < 6; ++seed) {
            const Allocation allocation = uneven_allocation(machine, seed);
            const auto side = static_cast<std::uint32_t>(allocation.slot_count() / 5);
            for (const bool periodic : {false, true}) {
                for (const auto shape : {StencilShape::star, StencilShape::box}) {
                    const Extents grid{side, 5};
                    const CommGraph graph = grid_graph(grid, periodic, shape);
                    const std::string mapper = "tile(grid=" + format_extents(grid) + ")";
                    CHECK(TilePlacement(graph, allocation, mapper).bytes <=
                          TilePlacement(graph, allocation, "block").bytes);
                }
            }
        }
    }
}

TEST_CASE("tiles on a torus of their own shape are one hop from their neighbors") {
    const Machine machine = make_machine("torus:4x8+node:8");
    const Allocation whole = Allocation::whole(machine);
    const CommGraph graph = grid_graph({16, 16}, true);
    const TilePlacement tiles(graph, whole, "tile");
    CHECK(hop_bytes(graph, machine, tiles.slots.slots(), 1) == tiles.bytes);
    CHECK(tiles.bytes < TilePlacement(graph, whole, "block").bytes);
}

TEST_CASE("the sockets of a node get halves of its tile") {
    const Machine machine = make_machine("torus:4+node:4:2,distance=1:10");
    const CommGraph graph = grid_graph({8, 4});
    const TilePlacement tiles(graph, Allocation::whole(machine), "tile");
    std::vector<Node> sockets;
    for (const Slot slot : tiles.slots.slots()) sockets.emplace_back(slot.value / 4);
    // Between 8 sockets of 2x2 ranks there are 3 cuts with 4 pairs and 1 with 8 pairs.
    CHECK(grid::inter_node_bytes(graph, sockets, 1) == 2 * 10 * (3 * 4 + 8));
}

TEST_CASE("the grid of tile must be given if the graph has none, and must have the right size") {
    const Machine machine = make_machine("torus:4+node:4");
    const Allocation whole = Allocation::whole(machine);
    CHECK_THROWS_WITH_AS(
        (void)TilePlacement(grid_graph({4, 4}), whole, "tile(grid=4x5)"),
        "tile: a grid of 4x5 does not have the 16 cells that the ranks need; the nearest that does "
        "is 4x4",
        Error);
    // Ranks without messages form a grid if one is given.
    const CommGraph silent = CommGraph::from_rows(16, [](Rank, const auto&) {});
    CHECK(TilePlacement(silent, whole, "tile(grid=4x4)").bytes == 0);
    CHECK_THROWS_AS((void)TilePlacement(silent, whole, "tile"), Error);
}

TEST_CASE("tiles that do not fit a torus are ordered by a search, which leaves few hops between neighbors") {
    const Machine machine = make_machine("torus:9x9+node:12");
    const CommGraph graph = grid_graph({30, 30});
    const Allocation whole = Allocation::whole(machine);
    const TilePlacement tiles(graph, whole, "tile");
    CHECK(hop_bytes(graph, machine, tiles.slots.slots(), 1) < tiles.bytes * 3 / 2);
    CHECK(tiles.bytes < TilePlacement(graph, whole, "structure").bytes);
}

TEST_CASE("the placement and the work are the same for any number of threads" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:9x9+node:12");
    const Allocation whole = Allocation::whole(machine);
    for (const auto& graph : {grid_graph({30, 30}), grid_graph({13, 17}, true)}) {
        const PlaceResult one = place(Problem(graph, whole, 3, 1), "tile");
        const PlaceResult two = place(Problem(graph, whole, 3, 2), "tile");
        CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
        CHECK(one.work == two.work);
    }
    const CommGraph graph = grid_graph({30, 30});
    CHECK(place(Problem(graph, whole), "tile", Budget{.work = 1}).exhausted);
}
