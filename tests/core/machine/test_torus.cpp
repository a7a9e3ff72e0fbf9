// SPDX-License-Identifier: BSD-3-Clause
// Tori and meshes compared with textbook formulas: Sudheer 2012, ch. 3.
#include <algorithm>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

std::vector<std::string> half_route_names(const Machine& machine, Node a, Node b) {
    std::vector<std::string> names;
    with_topology(machine, [&](const auto& t) {
        t.route(a, b, [&](Link link, double share) {
            names.push_back(t.link_name(link) + (share == 1 ? "" : " half"));
        });
    });
    return names;
}

std::uint32_t diameter(const std::string& text) {
    return with_topology(make_machine(text), [](const auto& t) { return t.diameter(); });
}

/// Sum over axes of |a - b|, or the other direction of the ring if shorter.
std::uint32_t reference_hops(const Machine& machine, Node a, Node b) {
    const auto x = machine.coordinates(a);
    const auto y = machine.coordinates(b);
    const auto size = machine.grid();
    const auto wraps = machine.wraps();
    std::uint32_t sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
        const std::uint32_t apart = x[d] > y[d] ? x[d] - y[d] : y[d] - x[d];
        sum += wraps[d] ? std::min(apart, size[d] - apart) : apart;
    }
    return sum;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("distances are sums over axes of the shorter direction") {
    for (const std::string text :
         {"torus:5x4x3", "mesh:5x4x3", "torus:6x5,wrap=01,nodes=2", "torus:6x5,nodes=2,hosts=free",
          "torus:3x4,cards=1", "torus:2x3x2x3x2x2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        for (const Node a : ids<Node>(machine.node_count())) {
            for (const Node b : ids<Node>(machine.node_count())) {
                const std::uint32_t to_routers =
                    a == b ? 0 : 2 * with_topology(machine, [](const auto& t) { return host_hops(t); });
                if (machine.hops(a, b) != reference_hops(machine, a, b) + to_routers)
                    FAIL_CHECK(a.value, " to ", b.value);
            }
        }
    }
}

TEST_CASE("diameters are 3 (n - 1) on cubic meshes and the sum of half extents on tori") {
    CHECK(diameter("mesh:8x8x8") == 21);
    CHECK(diameter("mesh:2x3x4") == 1 + 2 + 3);
    CHECK(diameter("torus:8x8x8") == 12);
    CHECK(diameter("torus:17x8x24") == 8 + 4 + 12);
    CHECK(diameter("torus:23x24x24") == 11 + 12 + 12);
    CHECK(diameter("torus:16384") == 8192);
    CHECK(diameter("mesh:16384x16384") == 2 * 16383);
}

TEST_CASE("distances on the longest axes are correct") {
    const Machine line = make_machine("mesh:16384");
    CHECK(line.hops(Node{0}, Node{16383}) == 16383);
    const Machine ring = make_machine("torus:16384");
    CHECK(ring.hops(Node{0}, Node{16383}) == 1);
    CHECK(ring.hops(Node{0}, Node{8192}) == 8192);
    CHECK(ring.hops(Node{16383}, Node{8190}) == 8191);
}

TEST_CASE("routes travel along x, then along y, in the shorter direction") {
    const Machine machine = make_machine("torus:5x5");
    CHECK(half_route_names(machine, machine.node_at({0, 0}), machine.node_at({2, 4})) ==
          Names{"(0,0) +x", "(1,0) +x", "(2,0) -y"});
    CHECK(half_route_names(machine, machine.node_at({1, 3}), machine.node_at({4, 0})) ==
          Names{"(1,3) -x", "(0,3) -x", "(4,3) +y", "(4,4) +y"});
}

TEST_CASE("routes travel along the axes in the given order") {
    const Machine machine = make_machine("torus:5x5,order=1:0");
    CHECK(half_route_names(machine, machine.node_at({0, 0}), machine.node_at({1, 4})) ==
          Names{"(0,0) -y", "(0,4) +x"});
}

TEST_CASE("half-way messages around a ring use the positive direction") {
    const Machine machine = make_machine("torus:4");
    CHECK(half_route_names(machine, Node{0}, Node{2}) == Names{"(0) +x", "(1) +x"});
    CHECK(half_route_names(machine, Node{2}, Node{0}) == Names{"(2) +x", "(3) +x"});
}

TEST_CASE("half-way messages around a ring may be split over both directions") {
    const Machine machine = make_machine("torus:4,ties=split");
    CHECK(half_route_names(machine, Node{0}, Node{2}) ==
          Names{"(0) +x half", "(1) +x half", "(0) -x half", "(3) -x half"});
    CHECK(half_route_names(machine, Node{0}, Node{1}) == Names{"(0) +x"});
}

TEST_CASE("half-way messages around a ring may be routed as in SimGrid") {
    const Machine machine = make_machine("torus:4,ties=simgrid");
    CHECK(half_route_names(machine, Node{2}, Node{0}) == Names{"(2) -x", "(1) -x"});
    CHECK(half_route_names(machine, Node{0}, Node{2}) == Names{"(0) +x", "(1) +x"});
    CHECK(half_route_names(machine, Node{3}, Node{1}) == Names{"(3) +x", "(0) +x"});
}

TEST_CASE("the last axis varies fastest, and nodes of a router are consecutive") {
    const Machine machine = make_machine("torus:2x3x4,nodes=2");
    CHECK(machine.coordinates(Node{0}) == std::vector<std::uint32_t>{0, 0, 0});
    CHECK(machine.coordinates(Node{1}) == std::vector<std::uint32_t>{0, 0, 0});
    CHECK(machine.coordinates(Node{2}) == std::vector<std::uint32_t>{0, 0, 1});
    CHECK(machine.coordinates(Node{8}) == std::vector<std::uint32_t>{0, 1, 0});
    CHECK(machine.coordinates(Node{24}) == std::vector<std::uint32_t>{1, 0, 0});
    CHECK(machine.hops(Node{0}, Node{1}) == 2);
    CHECK(make_machine("torus:2x3x4,nodes=2,hosts=free").hops(Node{0}, Node{1}) == 0);
    CHECK(machine.node_at({1, 2, 3}) == Node{46});
}

TEST_CASE("an 8x8x8 torus has 3072 directed links, the mesh 2688") {
    CHECK(make_machine("torus:8x8x8").link_count() == 3072);
    CHECK(make_machine("mesh:8x8x8").link_count() == 3 * 2 * 7 * 64);
}

TEST_CASE("an invalid torus specification is refused") {
    CHECK_THROWS_AS(Torus(TorusSpec{}), Error);
    TorusSpec spec;
    spec.size = {4, 4};
    spec.wrap = {true};
    CHECK_THROWS_WITH_AS(Torus{spec}, "a torus of 2 axes needs 2 entries of wrap, not 1", Error);
    spec.wrap = {};
    spec.bandwidth.assign(2, {BytesPerSecond{1}, BytesPerSecond{0}});
    CHECK_THROWS_WITH_AS(Torus{spec}, "the bandwidth of a link must be positive and finite, not 0 B/s",
                         Error);
    spec.bandwidth = {};
    spec.order = {0, 0};
    CHECK_THROWS_WITH_AS(Torus{spec}, "the routing order must name each axis of the torus once", Error);
}
