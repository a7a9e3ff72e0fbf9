// SPDX-License-Identifier: BSD-3-Clause
// Territory: the routers and switches of an allocation, and their connected components.
#include <algorithm>
#include <set>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/territory.hpp"

using namespace topoloom;

namespace {

std::size_t count_components(const Machine& machine, const std::vector<std::uint32_t>& ids) {
    std::vector<Node> nodes;
    for (const std::uint32_t id : ids) nodes.emplace_back(id);
    return Territory(Allocation(machine, nodes)).component_count();
}

/// Reference: vertex by vertex, with sets and graph searches.
template <class T>
struct ReferenceTerritory {
    std::set<std::uint32_t> held;
    std::vector<std::set<std::uint32_t>> neighbors;

    ReferenceTerritory(const T& network, const std::vector<Node>& usable, std::span<const Node> nodes)
        : neighbors(network.vertex_count()) {
        for (const Link link : ids<Link>(network.link_count())) {
            if (!is_up(network, link)) continue;
            neighbors[network.ends(link).from].insert(network.ends(link).to);
            neighbors[network.ends(link).to].insert(network.ends(link).from);
        }
        std::set<std::uint32_t> with_node;
        for (const Node node : ids<Node>(network.node_count())) with_node.insert(network.vertex(node));
        std::set<std::uint32_t> routers;
        for (const Node node : nodes) routers.insert(network.vertex(node));
        held = routers;
        for (const std::uint32_t router : routers) {
            for (const std::uint32_t v : neighbors[router]) {
                if (!with_node.contains(v)) held.insert(v);
            }
        }
        const std::set<std::uint32_t> near = held;
        for (std::uint32_t v = 0; v < network.vertex_count(); ++v) {
            if (near.contains(v)) continue;
            const std::set<std::uint32_t> around =
                find_reached(v, [&](std::uint32_t w) { return !near.contains(w); });
            const bool enclosed = std::ranges::none_of(
                usable, [&](Node node) { return around.contains(network.vertex(node)); });
            if (enclosed) held.insert(v);
        }
    }

    template <class Pass>
    [[nodiscard]] std::set<std::uint32_t> find_reached(std::uint32_t start, const Pass& pass) const {
        std::set<std::uint32_t> seen{start};
        std::vector<std::uint32_t> queue{start};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const std::uint32_t v : neighbors[queue[i]]) {
                if (pass(v) && seen.insert(v).second) queue.push_back(v);
            }
        }
        return seen;
    }
};

}  // namespace

TEST_CASE("the territory of an allocation equals the reference on every topology") {
    Rng rng(5);
    for_each_topology([&](const Machine& machine, const auto& network) {
        const std::vector<Node> usable = machine.usable_nodes();
        for (int trial = 0; trial < 10; ++trial) {
            const Allocation allocation(machine, random_subset(usable, rng));
            const Territory territory(allocation);
            const ReferenceTerritory slow(network, usable, allocation.nodes());
            for (std::uint32_t v = 0; v < network.vertex_count(); ++v)
                REQUIRE(territory.holds(v) == slow.held.contains(v));
            const auto component = territory.component_of_node();
            REQUIRE(component.size() == allocation.nodes().size());
            for (std::size_t i = 0; i < component.size(); ++i) {
                const auto piece = slow.find_reached(network.vertex(allocation.nodes()[i]),
                                                     [&](std::uint32_t v) { return slow.held.contains(v); });
                for (std::size_t j = 0; j < component.size(); ++j) {
                    const bool joined = piece.contains(network.vertex(allocation.nodes()[j]));
                    REQUIRE((component[i] == component[j]) == joined);
                }
            }
        }
    });
}

TEST_CASE("an allocation of the whole machine owns every vertex and is one component") {
    for_each_topology([&](const Machine& machine, const auto& network) {
        const Territory territory(Allocation::whole(machine));
        CHECK(territory.component_count() == 1);
        for (std::uint32_t v = 0; v < network.vertex_count(); ++v) REQUIRE(territory.holds(v));
        for (const Link link : ids<Link>(network.link_count())) REQUIRE(territory.owns(network.ends(link)));
    });
}

TEST_CASE("grid neighbors are in one component, also around rings") {
    const Machine ring = make_machine("torus:8");
    CHECK(count_components(ring, {0, 7, 3}) == 2);
    const Machine line = make_machine("mesh:8");
    CHECK(count_components(line, {0, 7, 3}) == 3);
    const Machine pairs = make_machine("torus:8,nodes=2");
    CHECK(count_components(pairs, {0, 1, 2, 8}) == 2);
    CHECK(count_components(pairs, {0, 1}) == 1);  // one router
    CHECK(count_components(pairs, {0, 4}) == 2);  // no diagonal neighbors
}

TEST_CASE("nodes on the same switch are in one component, nodes on different switches are not") {
    const Machine tree = make_machine("tree:4:8:2");
    CHECK(count_components(tree, {0, 3}) == 1);
    CHECK(count_components(tree, {3, 4}) == 2);
    CHECK(count_components(tree, {0, 1, 2, 3, 4, 5, 6, 7}) == 2);
    const Machine star = make_machine("graph:4+1:0-4,1-4,2-4,3-4,forward=no");
    CHECK(count_components(star, {0, 3}) == 1);
    const Machine three = make_machine("graph:6+4:0-6,1-6,2-7,3-7,4-8,5-8,6-9,7-9,8-9,forward=no");
    CHECK(count_components(three, {0, 1, 2}) == 2);
    // All other nodes reach the upper switch only through their own switches.
    CHECK(count_components(three, {0, 1, 2, 4}) == 1);
}

TEST_CASE("nodes on adjacent switches are in one component, as on adjacent routers") {
    const Machine line = make_machine("graph:3+3:0-3,1-4,2-5,3-4,4-5,forward=no");
    CHECK(count_components(line, {0, 1}) == 1);
    CHECK(count_components(line, {0, 2}) == 2);
}
