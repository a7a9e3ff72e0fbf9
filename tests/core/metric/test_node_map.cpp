// SPDX-License-Identifier: BSD-3-Clause
// Process grids on nodes: C. Karlsson, Optimizing Multi-dimensional MPI Communications ..., 2012, ch. 5.
#include <doctest.h>

#include <algorithm>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/schedule/cost/grid_times.hpp"

using namespace topoloom;

namespace {

using Nodes = std::vector<std::uint32_t>;

/// The node of every cell if each node has one tile.
Nodes tile_nodes(const Extents& grid, const Extents& tile) {
    Nodes nodes;
    for (std::uint32_t r = 0; r < grid[0]; ++r) {
        for (std::uint32_t c = 0; c < grid[1]; ++c)
            nodes.push_back(r / tile[0] * (grid[1] / tile[1]) + c / tile[1]);
    }
    return nodes;
}

/// Reference for two axes.
Nodes count_leaving_links(const Extents& grid, const Nodes& nodes, std::size_t axis) {
    Nodes links(*std::ranges::max_element(nodes) + 1, 0);
    const auto node = [&](std::uint32_t r, std::uint32_t c) { return nodes[r * grid[1] + c]; };
    for (std::uint32_t r = 0; r + (axis == 0) < grid[0]; ++r) {
        for (std::uint32_t c = 0; c + (axis == 1) < grid[1]; ++c)
            links[node(r, c)] += node(r, c) != node(r + (axis == 0), c + (axis == 1));
    }
    return links;
}

}  // namespace

TEST_CASE("a 4x4 grid on 4 nodes of 4 cores has the published values, for rows and for tiles") {
    Nodes rows(16);
    for (std::uint32_t i = 0; i < 16; ++i) rows[i] = i / 4;
    const NodeMap by_rows = node_map({4, 4}, rows);
    CHECK(by_rows.leaving[1] == Nodes{0, 0, 0, 0});
    CHECK(by_rows.leaving[0] == Nodes{4, 4, 4, 0});
    CHECK(by_rows.external_links() == 4);
    const NodeMap in_tiles = node_map({4, 4}, tile_nodes({4, 4}, {2, 2}));
    CHECK(in_tiles.leaving[1] == Nodes{2, 0, 2, 0});
    CHECK(in_tiles.leaving[0] == Nodes{2, 2, 0, 0});
    CHECK(in_tiles.external_links() == 4);
}

TEST_CASE("the node map of any grid equals its definition") {
    Rng rng(3);
    for (int round = 0; round < 20; ++round) {
        const Extents grid{1 + static_cast<std::uint32_t>(rng.below(7)),
                           1 + static_cast<std::uint32_t>(rng.below(7))};
        Nodes nodes(grid[0] * grid[1]);
        for (auto& node : nodes) node = rng.below(std::min(4U, static_cast<std::uint32_t>(nodes.size())));
        const NodeMap map = node_map(grid, nodes);
        for (const std::size_t axis : {0, 1})
            CHECK(map.leaving[axis] == count_leaving_links(grid, nodes, axis));
    }
}

TEST_CASE(
    "a tile inside a larger grid has as many external links as its surface: 6 with 8 cores, 7 with 12") {
    for (const Extents& tile : {Extents{1, 8}, {2, 4}, {4, 2}, {8, 1}, {1, 12}, {2, 6}, {3, 4}, {12, 1}}) {
        const Extents grid{3 * tile[0], 3 * tile[1]};
        CHECK(node_map(grid, tile_nodes(grid, tile)).external_links() == tile_surface(tile));
    }
    CHECK(tile_surface({2, 4}) == 6);
    CHECK(tile_surface({3, 4}) == 7);
    CHECK(tile_surface({1, 8}) == 9);
    CHECK(tile_surface({2, 2, 2}) == 12);
    CHECK(tile_surface({2, 2, 3}) == 16);
    const std::vector<double> weight{1, 3};
    CHECK(tile_surface({2, 4}, weight) == 4 + 3 * 2);
}

TEST_CASE("tiles gain the published factors 1.25, 1.5 and 1.86 in 2-D, 1.42 and 1.56 in 3-D") {
    const auto gain = [](const Extents& tile) {
        Extents line(tile.size(), 1);
        line.back() = std::accumulate(tile.begin(), tile.end(), 1U, std::multiplies<>{});
        return tile_surface(line) / tile_surface(tile);
    };
    CHECK(gain({2, 2}) == 1.25);
    CHECK(gain({2, 4}) == 1.5);
    CHECK(gain({3, 4}) == doctest::Approx(1.857).epsilon(0.001));
    CHECK(gain({2, 2, 2}) == doctest::Approx(17.0 / 12));
    CHECK(gain({2, 2, 3}) == doctest::Approx(25.0 / 16));
}

TEST_CASE(
    "a pipeline takes a step per segment and link, and by the printed formula tiles gain as by surface") {
    const GridLinks wire{.latency_s = 1e-6, .outer_s_per_byte = 1e-9};
    // On a chain of 8 nodes, 10 segments take 8 - 2 + 10 steps. All links are inter-node.
    const NodeMap chain = node_map({8}, Nodes{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(pipelined_time(chain, wire, 1e6, 1e5) == doctest::Approx((8 - 2 + 10) * (1e-6 + 1e-4)));
    const GridLinks fast{.latency_s = 0, .outer_s_per_byte = 1e-9, .channels = 2};
    const NodeMap strips = node_map({32, 32}, tile_nodes({32, 32}, {1, 8}));
    const NodeMap tiles = node_map({32, 32}, tile_nodes({32, 32}, {2, 4}));
    const auto gain = [&](FormulaVariant reading) {
        return pipelined_time(strips, fast, 1e6, 1e4, reading) /
               pipelined_time(tiles, fast, 1e6, 1e4, reading);
    };
    CHECK(gain(FormulaVariant::printed) == doctest::Approx(1.5));
    // (p_1 + p_2 - 4 + 2m/s) s E/(p_1 + p_2) beta/c
    CHECK(pipelined_time(tiles, fast, 1e6, 1e4, FormulaVariant::printed) ==
          doctest::Approx((32 + 32 - 4 + 2 * 100) * 1e4 * 6.0 / 64 * 1e-9 / 2));
    // With strips, 8 messages leave a node along one axis and 1 along the other; with tiles, 4 and 2. There
    // are 2 channels.
    CHECK(gain(FormulaVariant::counted) == doctest::Approx((8.0 / 2 + 1) / (4.0 / 2 + 1)));
}

TEST_CASE(
    "more channels never slow down a pipeline, and with many channels a step takes the time of one message") {
    Rng rng(5);
    for (int round = 0; round < 40; ++round) {
        const Extents grid{2 + static_cast<std::uint32_t>(rng.below(7)),
                           2 + static_cast<std::uint32_t>(rng.below(7))};
        Nodes nodes(grid[0] * grid[1]);
        for (auto& node : nodes) node = rng.below(4);
        const NodeMap map = node_map(grid, nodes);
        GridLinks links{1e-6, 1e-9, 2e-10, 0, 1};
        const auto time = [&] { return pipelined_time(map, links, 1e6, 1e4); };
        double before = time();
        // With one channel a step takes as long as all messages of the busiest node in sequence.
        double all = 0;
        for (const std::size_t axis : {0, 1}) {
            const double byte = std::max(1e-9 * map.external_links(axis), 2e-10);
            all += (grid[axis] - 2 + 100) * (1e-6 + 1e4 * byte);
        }
        CHECK(before == doctest::Approx(all));
        for (links.channels = 2; links.channels <= 64; links.channels *= 2) {
            CHECK(time() <= before);
            before = time();
        }
        double alone = 0;
        for (const std::size_t axis : {0, 1})
            alone += (grid[axis] - 2 + 100) * (1e-6 + 1e4 * (map.external_links(axis) > 0 ? 1e-9 : 2e-10));
        CHECK(before == doctest::Approx(alone));
    }
}

TEST_CASE("no segment size is faster than the reported best one") {
    const GridLinks links{5e-6, 1e-9, 2e-10, 1e-10, 2};
    const NodeMap map = node_map({32, 32}, tile_nodes({32, 32}, {2, 4}));
    for (const FormulaVariant reading : {FormulaVariant::counted, FormulaVariant::printed}) {
        const double best = best_segment(map, links, 1e6, reading);
        const double time = pipelined_time(map, links, 1e6, best, reading);
        for (double segment = 100; segment <= 1e6; segment *= 1.1)
            CHECK(pipelined_time(map, links, 1e6, segment, reading) >= time * (1 - 1e-12));
        // With two processes there is nothing to pipeline, so the best segment is the whole message.
        CHECK(best_segment(node_map({2}, Nodes{0, 1}), links, 1e6, reading) == 1e6);
    }
}

TEST_CASE(
    "binomial trees have log2 rounds per axis, intra-node first, and inter-node messages share channels") {
    const GridLinks links{.latency_s = 1, .outer_s_per_byte = 10, .inner_s_per_byte = 1, .channels = 1};
    const NodeMap map = node_map({8, 16}, tile_nodes({8, 16}, {2, 4}));
    CHECK(map.inner_rounds == Nodes{1, 2});
    // Axis 0 has 3 rounds, 1 of them intra-node, and 4 messages leave a node at once. Axis 1 has 4 rounds, 2
    // of them intra-node, and 2 messages leave a node at once.
    const auto expected = [&](double outer_0, double outer_1) {
        return (1 + 10) * outer_0 * 2 + (1 + 1) + (1 + 10) * outer_1 * 2 + (1 + 1) * 2;
    };
    CHECK(binomial_time(map, GridCollective::bcast, links, 1) == doctest::Approx(expected(4, 2)));
    GridLinks two = links;
    two.channels = 2;
    CHECK(binomial_time(map, GridCollective::bcast, two, 1) == doctest::Approx(expected(2, 1)));
    GridLinks summing = links;
    summing.reduce_s_per_byte = 0.5;
    CHECK(binomial_time(map, GridCollective::reduce, summing, 1) ==
          doctest::Approx(expected(4, 2) + 7 * 0.5));
    // A scatter from one process to 8 sends 4, 2 and 1 shares in sequence. Sec. 4.3 states the same cost, 7/8
    // of the 8 shares.
    const NodeMap line = node_map({8}, Nodes{0, 1, 2, 3, 4, 5, 6, 7});
    const GridLinks bytes_only{.outer_s_per_byte = 1};
    CHECK(binomial_time(line, GridCollective::scatter, bytes_only, 1) == 7);
    CHECK(binomial_time(line, GridCollective::gather, bytes_only, 1) == 7);
}

TEST_CASE("grids that do not fit the nodes, and impossible links, are refused") {
    CHECK_THROWS_WITH_AS((void)node_map({4, 4}, Nodes(15, 0)),
                         "the grid 4x4 has 16 cells, but nodes are given for 15", Error);
    const NodeMap map = node_map({4}, Nodes{0, 0, 1, 1});
    CHECK_THROWS_AS((void)pipelined_time(map, {}, 100, 101), Error);
    CHECK_THROWS_AS((void)binomial_time(map, GridCollective::gather, {.channels = 0}, 1), Error);
    CHECK_THROWS_AS((void)best_segment(map, {.latency_s = -1}, 1), Error);
}
