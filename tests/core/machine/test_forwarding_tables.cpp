// SPDX-License-Identifier: BSD-3-Clause
// Graphs with forwarding tables: routes, distances, failures, and invalid tables.
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

using Stops = std::vector<std::uint32_t>;

Stops route_vertices(const Machine& machine, std::uint32_t a, std::uint32_t b) {
    return with_topology(machine, [&](const auto& t) {
        Stops visited{t.vertex(Node{a})};
        t.route(Node{a}, Node{b}, [&](Link link, double share) {
            CHECK(share == 1);
            visited.push_back(t.ends(link).to);
        });
        return visited;
    });
}

/// A random graph, and for every node a random tree that leads to it from every vertex: [vertex][node] is the
/// next vertex.
struct RandomTables {
    std::vector<Stops> next;
    std::string text;
};

RandomTables random_tables(std::uint32_t nodes, std::uint32_t switches, std::uint64_t seed) {
    Rng rng(seed);
    const std::uint32_t vertices = nodes + switches;
    RandomTables tabled{std::vector<Stops>(vertices, Stops(nodes, no_index)),
                        random_graph(nodes, switches, seed)};
    std::vector<Stops> beside(vertices);
    const Machine plain = make_machine(tabled.text);
    for (const Link link : ids<Link>(plain.link_count())) {
        with_topology(plain, [&](const auto& t) { beside[t.ends(link).from].push_back(t.ends(link).to); });
    }
    for (std::uint32_t b = 0; b < nodes; ++b) {
        Stops reached{b};
        while (reached.size() < vertices) {
            const std::uint32_t at = reached[rng.below(static_cast<std::uint32_t>(reached.size()))];
            const std::uint32_t v = beside[at][rng.below(static_cast<std::uint32_t>(beside[at].size()))];
            if (v == b || tabled.next[v][b] != no_index) continue;
            tabled.next[v][b] = at;
            reached.push_back(v);
        }
    }
    for (std::uint32_t v = 0; v < vertices; ++v) {
        // Switches first.
        std::ranges::sort(beside[v], {}, [&](std::uint32_t to) { return std::pair(to < nodes, to); });
        tabled.text += ",table=" + std::to_string(v) + ":";
        for (const std::uint32_t to : tabled.next[v]) {
            const auto port = std::ranges::find(beside[v], to) - beside[v].begin();
            tabled.text += to == no_index  ? "-"
                           : port % 2 == 0 ? std::string(1, static_cast<char>('a' + port))
                                           : "(" + std::to_string(port) + ")";
        }
    }
    return tabled;
}

}  // namespace

TEST_CASE("messages follow the tables, and nodes with one link need no table") {
    const Machine machine = make_machine(two_leaves_text());
    CHECK(route_vertices(machine, 0, 1) == Stops{0, 4, 1});
    CHECK(route_vertices(machine, 0, 2) == Stops{0, 4, 7, 5, 2});
    CHECK(route_vertices(machine, 0, 3) == Stops{0, 4, 8, 5, 3});
    CHECK(route_vertices(machine, 3, 0) == Stops{3, 5, 8, 4, 0});
    CHECK(machine.describe().find("routes by forwarding tables") != std::string::npos);
}

TEST_CASE("distances follow tables with detours") {
    const Machine machine = make_machine(clockwise_ring_text());
    CHECK(route_vertices(machine, 1, 0) == Stops{1, 2, 3, 4, 0});
    CHECK(machine.hops(Node{1}, Node{0}) == 4);
    CHECK(machine.hops(Node{0}, Node{1}) == 1);
}

TEST_CASE("routes that contain failures become shortest routes, and other routes stay") {
    const Machine one = make_machine(two_leaves_text() + "+down:4-8");
    CHECK(route_vertices(one, 0, 2) == Stops{0, 4, 7, 5, 2});
    CHECK(route_vertices(one, 0, 3) == Stops{0, 4, 6, 5, 3});
    const Machine ring = make_machine(clockwise_ring_text() + "+down:1-2");
    CHECK(route_vertices(ring, 1, 3) == Stops{1, 0, 4, 3});
    CHECK(route_vertices(ring, 4, 0) == Stops{4, 0});
    CHECK(route_vertices(ring, 3, 1) == Stops{3, 4, 0, 1});
}

TEST_CASE("routes and hops of random forwarding tables match a walk through the tables" *
          doctest::test_suite("threads")) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const RandomTables tabled = random_tables(7, static_cast<std::uint32_t>(seed % 6), seed);
        CAPTURE(tabled.text);
        const Machine machine = make_machine(tabled.text);
        for (std::uint32_t a = 0; a < 7; ++a) {
            for (std::uint32_t b = 0; b < 7; ++b) {
                Stops expected{a};
                while (expected.back() != b) expected.push_back(tabled.next[expected.back()][b]);
                CHECK(route_vertices(machine, a, b) == expected);
                CHECK(machine.hops(Node{a}, Node{b}) == expected.size() - 1);
            }
        }
    }
}

TEST_CASE("tables that do not lead to the nodes are refused with the reason") {
    const std::string leaf = "graph:3+1:0-3,1-3,2-3,";
    const std::string two = "graph:2+2:0-2,1-3,2-3,";
    const std::vector<std::pair<std::string, std::string>> bad{
        {leaf + "table=9:abc", "there is a forwarding table of vertex 9, but there are only 4"},
        {leaf + "table=3:ab", "the forwarding table of vertex 3 has 2 entries for 3 nodes"},
        {leaf + "table=3:a2b4c", "the forwarding table of vertex 3 has 7 entries for 3 nodes"},
        {leaf + "table=3:aad",
         "the forwarding table of vertex 3 names link 3, but only 3 leave the vertex, counted from 0"},
        {leaf + "table=3:abc,table=3:abc", "vertex 3 has two forwarding tables"},
        {leaf + "table=3:abc,route=0>3>1", "a machine graph has routes or forwarding tables, not both"},
        {leaf + "table=0:3a",
         "by the forwarding tables, a message from node 1 to node 0 reaches switch 3, which has no link for "
         "it"},
        {leaf + "table=3:bbc",
         "by the forwarding tables, a message from node 1 to node 0 reaches node 1, twice"},
        {leaf + "table=3:cbc,forward=no",
         "by the forwarding tables, a message from node 1 to node 0 reaches node 2, which does not forward"},
        {two + "table=2:ba,table=3:2a",
         "by the forwarding tables, a message from node 0 to node 1 reaches switch 2, twice"},
    };
    for (const auto& [text, reason] : bad) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(make_machine(text), ("machine '" + text + "': " + reason).c_str(), Error);
    }
    for (const char* table : {"3", "3:a?c", "3:ab(2", "3:ab(x)", "3:2"}) {
        CAPTURE(table);
        CHECK_THROWS_WITH_AS(make_machine(leaf + "table=" + table), doctest::Contains("cannot read machine"),
                             Error);
    }
}
