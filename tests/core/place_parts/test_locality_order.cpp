// SPDX-License-Identifier: BSD-3-Clause
// Renumbers ranks so that partners have near numbers.
#include <doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "place/changed_graphs.hpp"
#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/state/locality_order.hpp"

using namespace topoloom;

TEST_CASE("a locality order contains every rank once, and reordering keeps the graph") {
    const CommGraph graph = renumber_ranks(random_geometric(3000, Bytes{8}, 1, 6), 5).symmetric();
    const std::vector<Rank> order = locality_order(graph);
    REQUIRE(order.size() == graph.rank_count());
    std::vector<bool> is_listed(order.size(), false);
    for (const Rank u : order) is_listed[u.value] = true;
    CHECK(std::ranges::count(is_listed, true) == 3000);

    std::vector<Vertex> old;
    for (const Rank u : order) old.emplace_back(u.value);
    const partition::WeightedGraph whole =
        partition::make_weighted_graph(graph, std::vector<std::int64_t>(3000, 1), 0, 2);
    const partition::WeightedGraph local = partition::renumber_graph(whole, old, 2);
    REQUIRE(local.peer.size() == graph.edge_count());
    bool same = true;
    for (const Vertex u : local.vertices()) {
        const Rank rank = order[u.value];
        REQUIRE(local.degree(u) == graph.degree(rank));
        for (std::size_t e = 0; e < local.degree(u); ++e) {
            same = same && order[local.peers(u)[e].value] == graph.peers(rank)[e] &&
                   Bytes{local.weights(u)[e]} == graph.bytes(rank)[e];
        }
    }
    CHECK(same);
}

TEST_CASE("edges whose weight is 0 after rounding are left out") {
    const std::vector<GridAxis> axes{{5, false}};
    const CommGraph graph = stencil(axes, StencilShape::star, Bytes{1}).symmetric();
    const std::vector<std::int64_t> mass(5, 1);
    CHECK(partition::make_weighted_graph(graph, mass).peer.size() == 8);
    CHECK(partition::make_weighted_graph(graph, mass, 8).peer.empty());
}

TEST_CASE("ranks that are already in a locality order keep their numbers") {
    const std::vector<GridAxis> axes{{20, false}, {20, false}, {20, false}};
    CHECK(locality_order(stencil(axes, StencilShape::star, Bytes{1}).symmetric()).empty());
}
