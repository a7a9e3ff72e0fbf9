// SPDX-License-Identifier: BSD-3-Clause
// Machines with failures: changed routes, remaining nodes, and invalid failures.
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

using namespace topoloom;

namespace {

std::vector<std::string> vertex_names_of_route(const Machine& machine, Node a, Node b) {
    return with_topology(machine, [&](const auto& t) {
        std::vector<std::string> links;
        t.route(a, b, [&](Link link, double) { links.push_back(t.link_name(link)); });
        return links;
    });
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a failure changes only the routes that contain it, and they avoid it") {
    const Machine machine = make_machine("mesh:3x3+down:3-4");
    CHECK(vertex_names_of_route(machine, Node{0}, Node{8}) ==
          vertex_names_of_route(make_machine("mesh:3x3"), Node{0}, Node{8}));
    CHECK(vertex_names_of_route(make_machine("mesh:3x3"), Node{3}, Node{4}) == Names{"(1,0) +y"});
    CHECK(vertex_names_of_route(machine, Node{3}, Node{4}) == Names{"(1,0) +x", "(2,0) +y", "(2,1) -x"});
    CHECK(machine.hops(Node{3}, Node{4}) == 3);
    CHECK(machine.hops(Node{0}, Node{8}) == 4);
}

TEST_CASE("a cable may be down in one direction only") {
    const Machine machine = make_machine("mesh:2x2+down:0>1");
    CHECK(machine.hops(Node{0}, Node{1}) == 3);
    CHECK(machine.hops(Node{1}, Node{0}) == 1);
}

TEST_CASE("without host links, a router fails only if all its nodes fail") {
    CHECK(make_machine("torus:8+down:1").hops(Node{0}, Node{2}) == 6);
    CHECK(make_machine("torus:8,nodes=2,hosts=free+down:2").hops(Node{0}, Node{4}) == 2);
    CHECK(make_machine("torus:8,nodes=2,hosts=free+down:2,3").hops(Node{0}, Node{4}) == 6);
}

TEST_CASE(
    "with host links, a router stays up if all its nodes fail, and a failed router disables its nodes") {
    CHECK(make_machine("torus:8,nodes=2+down:2").hops(Node{0}, Node{4}) == 2 + 2);
    CHECK(make_machine("torus:8,nodes=2+down:2,3").hops(Node{0}, Node{4}) == 2 + 2);
    const Machine machine = make_machine("torus:8,nodes=2+down:v1");
    CHECK(machine.hops(Node{0}, Node{4}) == 6 + 2);
    CHECK(machine.usable_nodes().size() == 14);
    CHECK_THROWS_WITH_AS(Allocation(machine, {Node{0}, Node{3}}),
                         "the allocation names node 3, which is down", Error);
}

TEST_CASE("a node is down if a link to or from it is down") {
    // Vertices 8 to 23 are the nodes.
    for (const std::string text : {"10-1", "10>1", "1>10", "v10", "2"}) {
        CAPTURE(text);
        const Machine machine = make_machine("torus:8,nodes=2+down:" + text);
        CHECK(machine.usable_nodes().size() == 15);
        CHECK_THROWS_WITH_AS(Allocation(machine, {Node{0}, Node{2}}),
                             "the allocation names node 2, which is down", Error);
        CHECK(machine.hops(Node{0}, Node{3}) == 1 + 2);
    }
}

TEST_CASE("routes of a degraded dragonfly avoid failures and lead from node to node") {
    const Machine whole = make_machine("dragonfly:1x4,nodes=2");
    CHECK(vertex_names_of_route(whole, Node{0}, Node{3}) ==
          Names{"node 0 up", "group 0 router 0 -> router 1", "node 3 down"});
    const Machine machine = make_machine("dragonfly:1x4,nodes=2+down:0-1");
    CHECK(vertex_names_of_route(machine, Node{0}, Node{3}) ==
          Names{"node 0 up", "group 0 router 0 -> router 2", "group 0 router 2 -> router 1", "node 3 down"});
    CHECK(machine.hops(Node{0}, Node{3}) == 4);
    CHECK(machine.distance(Slot{0}, Slot{3}) == 4);
    CHECK(machine.hops(Node{0}, Node{1}) == 2);
    CHECK(machine.hops(Node{0}, Node{5}) == 3);
}

TEST_CASE("no allocation contains a node that is down") {
    const Machine machine = make_machine("torus:4x4+down:5,v6");
    CHECK(Allocation::whole(machine).nodes().size() == 14);
    CHECK_THROWS_WITH_AS(Allocation(machine, {Node{0}, Node{5}}),
                         "the allocation names node 5, which is down", Error);
    CHECK_THROWS_WITH_AS(Allocation::of_slots(machine, {Slot{6}}),
                         "the allocation names node 6, which is down", Error);
}

TEST_CASE("a machine may be disconnected if the allocation is connected") {
    const Machine machine = make_machine("mesh:6+down:2-3");
    CHECK(Allocation(machine, {Node{3}, Node{4}, Node{5}}).nodes().size() == 3);
    CHECK_THROWS_WITH_AS(Allocation(machine, {Node{1}, Node{4}}),
                         "failures disconnect the allocation: node 1 has no route to node 4", Error);
    CHECK_THROWS_AS(Allocation::whole(make_machine("tree:2:3:2+down:v14")), Error);
    // Mean over the connected pairs: 6 on each side, at a mean distance of 4/3.
    CHECK(machine.average_distance() == doctest::Approx(4.0 / 3));
}

TEST_CASE("a degraded torus keeps its coordinates") {
    const Machine machine = make_machine("torus:4x5+down:7");
    CHECK(machine.has_grid());
    CHECK(machine.grid() == std::vector<std::uint32_t>{4, 5});
    CHECK(machine.coordinates(Node{7}) == std::vector<std::uint32_t>{1, 2});
    CHECK(machine.describe() == "4x5 torus, 1 node and 8 links down");
}

TEST_CASE("failures of unknown nodes, vertices and links are refused") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"torus:4+down:9", "node 9 does not exist: the machine has 4"},
        {"torus:4+down:v4", "vertex 4 does not exist: the machine has 4"},
        {"torus:4+down:0-2", "there is no link from vertex 0 to vertex 2"},
        {"torus:2+down:0,1", "all nodes of the machine are down"},
    };
    for (const auto& [text, reason] : bad) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(make_machine(text), ("machine '" + text + "': " + reason).c_str(), Error);
    }
    CHECK_THROWS_WITH_AS(make_machine("torus:4+down:x"), doctest::Contains("expected a number at column 14"),
                         Error);
    CHECK_THROWS_WITH_AS(make_machine("torus:4+down:0,nodes=3"), doctest::Contains("expected what is down"),
                         Error);
}

TEST_CASE("a table of distances around failures that exceeds memory is refused before links are listed") {
    for (const char* text : {"torus:16384x16384+down:1", "tree:1000:2000000+down:1"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(make_machine(text), doctest::Contains("need more memory than"), Error);
    }
}
