// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which partners stand near each other.
#include <doctest.h>

#include <algorithm>
#include <vector>

#include "place/renumbered.hpp"
#include "topoloom/pattern/random_geometric.hpp"
#include "topoloom/pattern/stencil.hpp"
#include "topoloom/place/local_order.hpp"

using namespace topoloom;

TEST_CASE("a local order holds every rank once, and the graph in that order is the same one") {
    const CommGraph graph = renumbered(random_geometric(3000, Bytes{8}, 1, 6), 5).symmetric();
    const std::vector<Rank> order = local_order(graph);
    REQUIRE(order.size() == graph.rank_count());
    std::vector<bool> seen(order.size(), false);
    for (const Rank u : order) seen[u.value] = true;
    CHECK(std::ranges::count(seen, true) == 3000);

    const CommGraph local = renumbered(graph, order, 2);
    REQUIRE(local.edge_count() == graph.edge_count());
    bool same = true;
    for (const Rank u : ids<Rank>(local.rank_count())) {
        for (const Edge edge : local.sends(u)) {
            const auto peers = graph.peers(order[u.value]);
            const auto found = std::ranges::find(peers, order[edge.peer.value]);
            same = same && found != peers.end();
            if (found == peers.end()) continue;
            const auto at = static_cast<std::size_t>(found - peers.begin());
            same = same && graph.bytes(order[u.value])[at] == edge.bytes;
        }
    }
    CHECK(same);
}

TEST_CASE("ranks that are in a local order stay as they are") {
    const std::vector<GridAxis> axes{{20, false}, {20, false}, {20, false}};
    CHECK(local_order(stencil(axes, StencilShape::star, Bytes{1}).symmetric()).empty());
}
