// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of whole nodes: groups of ranks stay together, and congestion never rises.
#include "topoloom/place/links/node_exchange.hpp"

#include <doctest.h>

#include <map>
#include <set>
#include <string>

#include "metric/congestion_key.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

TEST_CASE("exchanged nodes keep their groups of ranks, and congestion never rises") {
    for (const std::string text : {"torus:4x4x2+node:4", "dragonfly:5x4,nodes=2+node:2:2,distance=1:5",
                                   "fattree:4:4,up=1:2+node:3", "hyperx:3x4+node:2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = fragmented_allocation(machine, 10, 3, 2);
        const std::size_t ranks = allocation.slot_count() - 3;
        const CommGraph graph = random_geometric(ranks, Bytes{1000}, 4, 6);
        const Problem problem(graph, allocation);
        const Placement start = place(problem, "block").placement;
        Meter meter{Budget{}};
        const Placement found = links::exchange_nodes(problem, start, meter, 30);
        std::map<Node, Node> moved_to;
        std::set<Node> targets;
        for (const Rank u : ids<Rank>(ranks)) {
            const Node from = machine.node(start[u]);
            const Node to = machine.node(found[u]);
            CHECK(moved_to.try_emplace(from, to).first->second == to);
            targets.insert(to);
        }
        CHECK(targets.size() == moved_to.size());
        CHECK(congestion_key(graph, machine, found.slots()).congestion <=
              congestion_key(graph, machine, start.slots()).congestion);
    }
}

TEST_CASE("nodes are exchanged only if all have the same number of slots, and several") {
    const Machine machine = make_machine("mesh:4+node:2");
    const auto allocate = [&](std::initializer_list<std::uint32_t> slots) {
        std::vector<Slot> chosen;
        for (const std::uint32_t slot : slots) chosen.emplace_back(slot);
        return Allocation::of_slots(machine, chosen);
    };
    CHECK(links::can_exchange_nodes(allocate({0, 1, 2, 3, 4, 5})));
    CHECK_FALSE(links::can_exchange_nodes(allocate({0, 1, 2, 3})));
    CHECK_FALSE(links::can_exchange_nodes(allocate({0, 1, 2, 3, 4})));
    CHECK_FALSE(links::can_exchange_nodes(allocate({0, 2, 4, 6})));
}
