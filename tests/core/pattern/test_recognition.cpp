// SPDX-License-Identifier: BSD-3-Clause
// Recognition of patterns under any numbering, and rejection of near misses.
#include <doctest.h>

#include <algorithm>
#include <numeric>

#include "pattern/collectives.hpp"
#include "place/changed_graphs.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"

using namespace topoloom;

namespace {

/// The axes by which recognize() describes a stencil on this grid: those that the edges determine.
std::vector<PatternAxis> expected_axes(const std::vector<GridAxis>& grid, StencilShape shape) {
    std::vector<PatternAxis> axes;
    std::uint32_t twins = 1;
    for (const auto& [extent, periodic] : grid) {
        if (extent == 1) continue;
        if (shape == StencilShape::box && (extent == 2 || (extent == 3 && periodic))) {
            twins *= extent;
        } else if (!periodic || extent == 2) {
            axes.push_back({extent, AxisKind::path});
        } else if (shape == StencilShape::star && extent == 4) {
            axes.insert(axes.end(), 2, {2, AxisKind::path});
        } else {
            axes.push_back({extent, extent == 3 ? AxisKind::clique : AxisKind::ring});
        }
    }
    if (twins > 1) axes.push_back({twins, twins == 2 ? AxisKind::path : AxisKind::clique});
    return axes;
}

std::vector<PatternAxis> sort_axes(std::vector<PatternAxis> axes) {
    std::sort(axes.begin(), axes.end(), [](const PatternAxis& a, const PatternAxis& b) {
        return std::pair(a.extent, a.kind) < std::pair(b.extent, b.kind);
    });
    return axes;
}

/// Reference: whether two cells communicate.
bool are_partners(const GridPattern& pattern, std::uint32_t a, std::uint32_t b) {
    std::size_t moved = 0;
    const auto stride = strides_of(pattern.axes);
    for (std::size_t i = 0; i < stride.size(); ++i) {
        const auto [extent, kind] = pattern.axes[i];
        const std::uint32_t x = a / stride[i] % extent;
        const std::uint32_t y = b / stride[i] % extent;
        if (x == y) continue;
        ++moved;
        const std::uint32_t apart = x < y ? y - x : x - y;
        const bool near = apart == 1 || (kind == AxisKind::ring && apart == extent - 1);
        if (kind == AxisKind::apart || (kind != AxisKind::clique && !near)) return false;
    }
    return pattern.shape == StencilShape::star ? moved == 1 : moved > 0;
}

/// Checks that every rank has one cell, and that the edges are those of the pattern.
void check_pattern(const CommGraph& graph, const GridPattern& pattern) {
    const std::size_t n = graph.rank_count();
    REQUIRE(pattern.rank_of_cell.size() == n);
    std::vector<std::uint32_t> cell_of(n, 0);
    std::vector<char> is_seen(n, 0);
    for (std::uint32_t c = 0; c < n; ++c) {
        cell_of[pattern.rank_of_cell[c].value] = c;
        is_seen[pattern.rank_of_cell[c].value] = 1;
    }
    REQUIRE(std::accumulate(is_seen.begin(), is_seen.end(), std::size_t{0}) == n);
    for (const Rank u : ids<Rank>(n)) {
        const auto peers = graph.peers(u);
        for (const Rank v : ids<Rank>(n)) {
            if (u == v) continue;
            const bool edge = std::binary_search(peers.begin(), peers.end(), v);
            REQUIRE(edge == are_partners(pattern, cell_of[u.value], cell_of[v.value]));
        }
    }
}

std::string format_axes(const std::vector<GridAxis>& grid) {
    std::string text;
    for (const GridAxis& axis : grid) text += std::to_string(axis.extent) + (axis.periodic ? "p " : " ");
    return text;
}

void check_stencil(const std::vector<GridAxis>& grid, StencilShape shape) {
    CAPTURE(format_axes(grid));
    CAPTURE(shape == StencilShape::box);
    const CommGraph graph = renumber_ranks(stencil(grid, shape, Bytes{10}), 5).symmetric();
    if (graph.edge_count() == 0) return;
    const auto pattern = recognize(graph, 1);
    REQUIRE(pattern);
    const std::size_t n = graph.rank_count();
    const bool alltoall = graph.edge_count() == n * (n - 1);
    if (alltoall && !pattern->uniform) return;  // unequal bytes may be recognized as groups instead
    check_pattern(graph, *pattern);
    auto expected = expected_axes(grid, shape);
    const bool one_ring = expected.size() == 1 && expected[0].kind == AxisKind::ring;
    if (shape == StencilShape::box && one_ring && n == 4) expected = {2, {2, AxisKind::path}};
    CHECK(sort_axes(pattern->axes) == sort_axes(expected));
}

}  // namespace

TEST_CASE(
    "star and box stencils of one to three axes are recognized, for extents from 1 to 6, periodic or not") {
    std::vector<GridAxis> kinds;
    for (std::uint32_t extent = 1; extent <= 6; ++extent) {
        kinds.push_back({extent, false});
        kinds.push_back({extent, true});
    }
    for (const StencilShape shape : {StencilShape::star, StencilShape::box}) {
        for (std::size_t a = 0; a < kinds.size(); ++a) {
            check_stencil({kinds[a]}, shape);
            for (std::size_t b = 0; b <= a; ++b) {
                check_stencil({kinds[a], kinds[b]}, shape);
                for (std::size_t c = 0; c <= b; ++c) check_stencil({kinds[a], kinds[b], kinds[c]}, shape);
            }
        }
    }
}

TEST_CASE("grids of four to six axes are recognized") {
    for (const StencilShape shape : {StencilShape::star, StencilShape::box}) {
        check_stencil({{5, true}, {3, false}, {4, true}, {3, true}}, shape);
        check_stencil({{4, false}, {3, false}, {2, false}, {3, false}, {2, true}}, shape);
        check_stencil({{3, false}, {3, false}, {3, false}, {3, false}}, shape);
        check_stencil({{2, false}, {3, true}, {2, true}, {3, false}, {1, false}, {5, true}}, shape);
        check_stencil({{4, true}, {4, true}, {4, true}, {4, true}}, shape);
    }
    check_stencil({{4, true}, {3, false}, {2, false}, {3, true}, {2, true}, {3, false}}, StencilShape::star);
}

TEST_CASE("a hypercube exchange is recognized, with its bytes per dimension") {
    const CommGraph graph = renumber_ranks(recursive_doubling(64, Bytes{3}), 2).symmetric();
    const auto pattern = recognize(graph);
    REQUIRE(pattern);
    check_pattern(graph, *pattern);
    CHECK(pattern->text() == "hypercube of 6 dimensions");
    CHECK(pattern->uniform);
    auto weights = pattern->weight;
    std::sort(weights.begin(), weights.end());
    CHECK(weights == std::vector<double>{6, 12, 24, 48, 96, 192});
}

TEST_CASE("bytes that differ by axis change only the weights") {
    const std::vector<GridAxis> grid{{6, false}, {5, true}, {3, false}};
    const CommGraph even = stencil(grid, StencilShape::star, Bytes{1});
    const CommGraph graph = renumber_ranks(replace_bytes(even,
                                                         [](Rank u, Rank v, std::int64_t) {
                                                             if (u.value / 15 != v.value / 15) return 100;
                                                             return u.value / 3 != v.value / 3 ? 10 : 1;
                                                         }),
                                           9)
                                .symmetric();
    const auto pattern = recognize(graph);
    REQUIRE(pattern);
    CHECK(pattern->axes ==
          std::vector<PatternAxis>{{6, AxisKind::path}, {5, AxisKind::ring}, {3, AxisKind::path}});
    CHECK(pattern->weight == std::vector<double>{200, 20, 2});
    CHECK(pattern->uniform);
}

TEST_CASE("rows and columns with alltoall are recognized") {
    const CommGraph graph = CommGraph::from_rows(35, [](Rank u, const auto& add) {
        for (const Rank v : ids<Rank>(35)) {
            if (u != v && (u.value / 7 == v.value / 7 || u.value % 7 == v.value % 7)) add(Edge{v, Bytes{1}});
        }
    });
    const auto pattern = recognize(renumber_ranks(graph, 1));
    REQUIRE(pattern);
    CHECK(pattern->axes == std::vector<PatternAxis>{{7, AxisKind::clique}, {5, AxisKind::clique}});
}

TEST_CASE(
    "a grid with an added, missing or moved edge is rejected, and one with different bytes is not uniform") {
    for (const StencilShape shape : {StencilShape::star, StencilShape::box}) {
        for (const bool periodic : {false, true}) {
            const std::vector<GridAxis> grid{{6, periodic}, {5, periodic}, {5, false}};
            const CommGraph whole = stencil(grid, shape, Bytes{10});
            for (std::uint32_t seed = 0; seed < 8; ++seed) {
                Rng rng(seed);
                const Rank a{rng.below(150)};
                const auto peers = whole.peers(a);
                const Rank b = peers[rng.below(static_cast<std::uint32_t>(peers.size()))];
                const auto on_edge = [&](Rank u, Rank v) { return (u == a && v == b) || (u == b && v == a); };
                const CommGraph less = replace_bytes(
                    whole, [&](Rank u, Rank v, std::int64_t bytes) { return on_edge(u, v) ? -1 : bytes; });
                CHECK_FALSE(recognize(renumber_ranks(less, seed).symmetric()));
                Rank c{rng.below(150)};
                while (c == a || std::binary_search(peers.begin(), peers.end(), c)) c = Rank{rng.below(150)};
                CHECK_FALSE(recognize(
                    renumber_ranks(add_bidirectional_edge(whole, a, c, Bytes{10}), seed).symmetric()));
                CHECK_FALSE(recognize(
                    renumber_ranks(add_bidirectional_edge(less, a, c, Bytes{10}), seed).symmetric()));
                const CommGraph other = replace_bytes(
                    whole, [&](Rank u, Rank v, std::int64_t bytes) { return on_edge(u, v) ? 11 : bytes; });
                const auto pattern = recognize(renumber_ranks(other, seed).symmetric());
                REQUIRE(pattern);
                CHECK_FALSE(pattern->uniform);
            }
        }
    }
}

TEST_CASE("groups with alltoall are recognized, also among lighter messages") {
    Rng rng(4);
    const auto groups = [&](std::uint32_t light) {
        return CommGraph::from_rows(60, [&](Rank u, const auto& add) {
            for (const Rank v : ids<Rank>(60)) {
                if (u == v) continue;
                if (u.value / 5 == v.value / 5)
                    add(Edge{v, Bytes{100 + (u.value + v.value) % 7}});
                else if (light > 0 && (u.value * v.value) % 11 == 3)
                    add(Edge{v, Bytes{light}});
            }
        });
    };
    for (const std::uint32_t light : {0U, 1U, 40U}) {
        CAPTURE(light);
        const CommGraph graph = renumber_ranks(groups(light), 3).symmetric();
        const auto pattern = recognize(graph);
        REQUIRE(pattern);
        CHECK(pattern->text() == "12 groups of 5");
        for (std::uint32_t c = 0; c < 60; ++c) {
            const auto peers = graph.peers(pattern->rank_of_cell[c]);
            for (std::uint32_t d = c / 5 * 5; d < c / 5 * 5 + 5; ++d) {
                if (c != d) CHECK(std::binary_search(peers.begin(), peers.end(), pattern->rank_of_cell[d]));
            }
        }
    }
    const CommGraph broken = replace_bytes(groups(1), [](Rank u, Rank v, std::int64_t bytes) {
        return u.value + v.value == 47 + 48 ? 1 : bytes;
    });
    CHECK_FALSE(recognize(renumber_ranks(broken, 3).symmetric()));
}

TEST_CASE("alltoall is one clique, and heavy groups within it are recognized") {
    const auto even = recognize(renumber_ranks(alltoall(30, Bytes{4}), 1).symmetric());
    REQUIRE(even);
    CHECK(even->text() == "alltoall of 30");
    const CommGraph uneven = replace_bytes(alltoall(30, Bytes{4}), [](Rank u, Rank v, std::int64_t bytes) {
        return u.value % 10 == v.value % 10 ? 10 * bytes : bytes;
    });
    const auto groups = recognize(uneven.symmetric());
    REQUIRE(groups);
    CHECK(groups->text() == "10 groups of 3");
}

TEST_CASE("irregular graphs are rejected") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK_FALSE(
            recognize(random_geometric(300, Bytes{1}, seed, 2 + static_cast<double>(seed)).symmetric()));
    }
    CHECK_FALSE(recognize(CommGraph::from_rows(5, [](Rank, const auto&) {})));
    CHECK_FALSE(recognize(CommGraph::from_rows(1, [](Rank, const auto&) {})));
    CHECK_FALSE(recognize(bruck(41, Bytes{8}).symmetric()));
    CHECK_FALSE(recognize(binomial_tree(64, Bytes{8}).symmetric()));
    const CommGraph hub = CommGraph::from_rows(50, [](Rank u, const auto& add) {
        if (u.value > 0) add(Edge{Rank{0}, Bytes{1}});
    });
    CHECK_FALSE(recognize(hub.symmetric()));
}
