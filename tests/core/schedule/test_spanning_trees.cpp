// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "schedule/first_ids.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/orders/spanning_trees.hpp"

using namespace topoloom;
using testing::first_nodes;

namespace {

Multicast random_multicast(Rng& rng, std::size_t nodes) {
    std::vector<Node> members = first_nodes(nodes);
    rng.shuffle(std::span(members));
    members.resize(1 + rng.below(static_cast<std::uint32_t>(nodes)));
    return {Node{rng.below(static_cast<std::uint32_t>(nodes))}, members};
}

/// Checks that a tree enters every vertex at most once, reaches all members, and ends only at members.
void check_tree(const Machine& machine, const SpanningTree& tree, const Multicast& multicast) {
    with_topology(machine, [&](const auto& network) {
        std::set<std::uint32_t> reached{network.vertex(multicast.root)};
        std::set<std::uint32_t> left;
        for (const Link link : tree.links) {
            const auto [from, to] = network.ends(link);
            CHECK(reached.contains(from));
            CHECK(reached.insert(to).second);
            left.insert(from);
        }
        std::set<std::uint32_t> members{network.vertex(multicast.root)};
        for (const Node member : multicast.members) members.insert(network.vertex(member));
        CHECK(std::ranges::includes(reached, members));
        for (const std::uint32_t vertex : reached) CHECK((left.contains(vertex) || members.contains(vertex)));
    });
}

std::vector<SpanningTree> disjoint_trees_of(const Machine& machine, const Multicast& multicast) {
    return disjoint_trees(std::get<Torus>(machine.topology()), multicast);
}

}  // namespace

TEST_CASE("spanning trees on fat trees reach all members, for any root and members") {
    Rng rng(3);
    for (const char* text : {"fattree:4:4", "fattree:2:3:4", "fattree:4:4:4,up=1:2:2,parallel=1:1:2",
                             "fattree:3:3,up=2:3", "fattree:5"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        std::vector<Multicast> multicasts;
        for (int i = 0; i < 20; ++i) multicasts.push_back(random_multicast(rng, machine.node_count()));
        for (const ParentChoice choice : {ParentChoice::least_loaded, ParentChoice::last}) {
            const auto trees = switch_trees(std::get<FatTree>(machine.topology()), multicasts, choice);
            for (std::size_t i = 0; i < trees.size(); ++i) check_tree(machine, trees[i], multicasts[i]);
        }
    }
}

TEST_CASE(
    "trees over the least loaded parents are spread evenly, while the last parents would carry all trees") {
    const Machine machine = make_machine("fattree:4:4");
    const auto& tree = std::get<FatTree>(machine.topology());
    std::vector<Multicast> multicasts;
    for (const Node root : first_nodes(16)) multicasts.push_back({root, first_nodes(16)});
    const auto top_loads = [&](ParentChoice choice) {
        const TreeLoads loads = tree_loads(machine, switch_trees(tree, multicasts, choice));
        return std::vector(loads.on_vertex.end() - 4, loads.on_vertex.end());
    };
    CHECK(top_loads(ParentChoice::least_loaded) == std::vector<std::uint32_t>{4, 4, 4, 4});
    CHECK(top_loads(ParentChoice::last) == std::vector<std::uint32_t>{0, 0, 0, 16});
}

TEST_CASE("a tree ascends only to the first switch above all members") {
    const Machine machine = make_machine("fattree:4:4:4");
    const std::vector<Multicast> near{{Node{17}, {Node{18}, Node{19}}}, {Node{17}, {Node{31}}}};
    const auto trees = switch_trees(std::get<FatTree>(machine.topology()), near);
    CHECK(trees[0].links.size() == 3);
    CHECK(trees[1].links.size() == 4);
}

TEST_CASE("routes from one node of a torus form a tree") {
    Rng rng(5);
    for (const char* text :
         {"torus:4x5", "torus:4x4x4,ties=split", "mesh:3x4x2", "torus:8x8+node:2", "dragonfly:5x4,nodes=2"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        for (int i = 0; i < 10; ++i) {
            const Multicast multicast = random_multicast(rng, machine.node_count());
            check_tree(machine, route_tree(machine, multicast), multicast);
        }
    }
}

TEST_CASE("tori have two disjoint spanning trees for every axis, meshes have one") {
    Rng rng(7);
    for (const auto& [text, count] : {std::pair("torus:7", 2U),
                                      {"torus:2x3", 4U},
                                      {"torus:5x4x3", 6U},
                                      {"torus:2x2x2", 6U},
                                      {"torus:3x1x4", 4U},
                                      {"torus:3x2x3x4", 8U},
                                      {"mesh:4x3", 2U},
                                      {"mesh:2x3x4", 3U},
                                      {"torus:4x4x4,wrap=101", 3U},
                                      {"torus:4x4,nodes=2,hosts=free", 4U}}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        for (int i = 0; i < 6; ++i) {
            Multicast multicast = random_multicast(rng, machine.node_count());
            if (i < 3) multicast.members = first_nodes(machine.node_count());
            const auto trees = disjoint_trees_of(machine, multicast);
            CHECK(trees.size() == count);
            for (const SpanningTree& tree : trees) check_tree(machine, tree, multicast);
            const TreeLoads loads = tree_loads(machine, trees);
            CHECK(*std::ranges::max_element(loads.on_link) <= 1);
        }
    }
}

TEST_CASE("errors name impossible multicasts") {
    const Machine machine = make_machine("fattree:2:2");
    const auto& tree = std::get<FatTree>(machine.topology());
    CHECK_THROWS_WITH((void)route_tree(machine, {Node{1}, {}}), "the multicast of node 1 has no members");
    CHECK_THROWS_WITH((void)switch_trees(tree, std::vector<Multicast>{{Node{0}, {Node{4}}}}),
                      "node 4 does not exist: the machine has 4");
}
