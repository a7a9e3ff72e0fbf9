// SPDX-License-Identifier: BSD-3-Clause
// Twisted tori compared with searches over their links, known lattices, and plain tori.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

/// Number of nodes by number of links from node 0, found by search over the links.
std::map<std::uint32_t, int> count_nodes_by_distance(const std::string& text) {
    return with_topology(make_machine(text), [](const auto& t) {
        std::vector<std::vector<std::uint32_t>> next(t.vertex_count());
        for (const Link link : ids<Link>(t.link_count())) next[t.ends(link).from].push_back(t.ends(link).to);
        std::vector<std::uint32_t> reached(t.vertex_count(), ~0U);
        std::vector<std::uint32_t> queue{0};
        reached[0] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const std::uint32_t v : next[queue[i]]) {
                if (reached[v] != ~0U) continue;
                reached[v] = reached[queue[i]] + 1;
                queue.push_back(v);
            }
        }
        std::map<std::uint32_t, int> count;
        for (const std::uint32_t hops : reached) ++count[hops];
        return count;
    });
}

/// The least number of directed links out of half of the routers, for halves between two planes across an
/// axis.
std::size_t count_bisection_links(const std::string& text, const std::vector<std::uint32_t>& size) {
    return with_topology(make_machine(text), [&](const auto& t) {
        std::size_t least = t.link_count();
        for (std::size_t axis = 0; axis < size.size(); ++axis) {
            for (std::uint32_t start = 0; start < size[axis]; ++start) {
                const auto inside = [&](std::uint32_t router) {
                    for (std::size_t d = size.size() - 1; d > axis; --d) router /= size[d];
                    return (router % size[axis] + size[axis] - start) % size[axis] < size[axis] / 2;
                };
                std::size_t out = 0;
                for (const Link link : ids<Link>(t.link_count()))
                    out += inside(t.ends(link).from) && !inside(t.ends(link).to) ? 1 : 0;
                least = std::min(least, out);
            }
        }
        return least;
    });
}

}  // namespace

TEST_CASE("without a twist, routes are those of a torus, link by link") {
    for (const std::string rest : {"5x4", "2x3x4,nodes=2", "4x1x6", "9"}) {
        const Machine twisted = make_machine("twisted:" + rest);
        const Machine torus = make_machine("torus:" + rest);
        for (const Node a : ids<Node>(torus.node_count())) {
            for (const Node b : ids<Node>(torus.node_count()))
                CHECK(route_names(twisted, a, b) == route_names(torus, a, b));
        }
    }
}

TEST_CASE("wrapping around x shifts along z, in both directions") {
    const Machine machine = make_machine("twisted:4x4x8,twist.x=0:0:4");
    const auto node = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        return Node{(x * 4 + y) * 8 + z};
    };
    using Names = std::vector<std::string>;
    CHECK(route_names(machine, node(3, 1, 2), node(0, 1, 6)) == Names{"(3,1,2) +x"});
    CHECK(route_names(machine, node(0, 1, 6), node(3, 1, 2)) == Names{"(0,1,6) -x"});
    CHECK(route_names(machine, node(3, 1, 2), node(0, 1, 5)) == Names{"(3,1,2) +x", "(0,1,6) -z"});
    CHECK(machine.hops(node(3, 1, 2), node(0, 1, 2)) == 3);
    CHECK(machine.describe() == "4x4x8 twisted torus");
}

TEST_CASE("a 2a x a torus twisted by a has the distances of the Gaussian network a + ai") {
    // Martinez et al. 2008: 4 s nodes at each distance s below a, and 2 a - 1 nodes at distance a.
    for (const std::uint32_t a : {2U, 3U, 4U, 7U}) {
        const std::string text = "twisted:" + std::to_string(2 * a) + "x" + std::to_string(a) +
                                 ",twist.y=" + std::to_string(a) + ":0";
        CAPTURE(text);
        std::map<std::uint32_t, int> expected{{0, 1}, {a, 2 * static_cast<int>(a) - 1}};
        for (std::uint32_t s = 1; s < a; ++s) expected[s] = 4 * static_cast<int>(s);
        CHECK(count_nodes_by_distance(text) == expected);
        const Machine machine = make_machine(text);
        std::map<std::uint32_t, int> counted;
        for (const Node node : ids<Node>(machine.node_count())) ++counted[machine.hops(Node{0}, node)];
        CHECK(counted == expected);
    }
}

TEST_CASE("a single ring twisted onto itself is a circulant graph") {
    const Machine machine = make_machine("twisted:1x16,twist.x=0:4");
    for (std::uint32_t a = 0; a < 16; ++a) {
        for (std::uint32_t b = 0; b < 16; ++b) {
            std::uint32_t least = 16;  // steps of 4 and of 1, in both directions
            for (int fours = -4; fours <= 4; ++fours) {
                for (int ones = -8; ones <= 8; ++ones) {
                    if ((4 * fours + ones - static_cast<int>(b) + static_cast<int>(a)) % 16 != 0) continue;
                    least = std::min(least, static_cast<std::uint32_t>(std::abs(fours) + std::abs(ones)));
                }
            }
            CHECK(machine.hops(Node{a}, Node{b}) == least);
        }
    }
}

TEST_CASE("the twisted slices of TPU v4 are cubic lattices with a lower diameter and twice the bisection") {
    // The face- and the body-centered cubic lattice of side a have diameter 3a/2 (Camarero, Martinez, Beivide
    // 2015). Jouppi et al. 2023 twist slices of 4x4x8 and 4x8x8 for their bisection.
    struct TorusSlice {
        std::vector<std::uint32_t> size;
        std::string extents;
        std::string twist;
        std::uint32_t diameter;
        std::uint32_t straight_diameter;
        std::size_t straight_cut;
    };
    const std::vector<TorusSlice> slices{{{4, 4, 8}, "4x4x8", ",twist.x=0:0:4,twist.y=0:0:4", 6, 8, 32},
                                         {{4, 8, 8}, "4x8x8", ",twist.x=0:4:4", 6, 10, 64}};
    for (const TorusSlice& slice : slices) {
        CAPTURE(slice.extents);
        const std::string twisted = "twisted:" + slice.extents + slice.twist;
        const std::string straight = "torus:" + slice.extents;
        CHECK(count_nodes_by_distance(twisted).rbegin()->first == slice.diameter);
        CHECK(make_machine(twisted).max_distance() == slice.diameter);
        CHECK(make_machine(straight).max_distance() == slice.straight_diameter);
        CHECK(count_bisection_links(straight, slice.size) == slice.straight_cut);
        CHECK(count_bisection_links(twisted, slice.size) == 2 * slice.straight_cut);
        double sum = 0;
        double nodes = 0;
        for (const auto& [hops, count] : count_nodes_by_distance(twisted)) {
            sum += hops * count;
            nodes += count;
        }
        CHECK(make_machine(twisted).average_distance() == doctest::Approx(sum / (nodes - 1)));
        CHECK(make_machine(twisted).average_distance() < 0.9 * make_machine(straight).average_distance());
    }
}

TEST_CASE("alltoall loads all links of an axis and direction equally, and the loads sum to all hops") {
    for (const std::string text : {"twisted:4x4x8,twist.x=0:0:4,twist.y=0:0:4",
                                   "twisted:3x5,twist.y=1:0,nodes=2", "twisted:1x9,twist.x=0:2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        with_topology(machine, [&](const auto& t) {
            const std::vector<double> loads = alltoall_loads(t);
            std::map<std::string, std::vector<double>> by_direction;
            for (const Link link : ids<Link>(t.link_count())) {
                const std::string name = t.link_name(link);
                by_direction[name.substr(name.rfind(' '))].push_back(loads[link.value]);
            }
            for (const auto& [direction, same] : by_direction)
                CHECK(std::ranges::count(same, same.front()) == static_cast<std::ptrdiff_t>(same.size()));
            double hops = 0;
            for (const Node a : ids<Node>(machine.node_count())) {
                for (const Node b : ids<Node>(machine.node_count())) hops += machine.hops(a, b);
            }
            CHECK(std::accumulate(loads.begin(), loads.end(), 0.0) == hops);
        });
    }
}

TEST_CASE("an invalid twisted torus is refused") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"twisted:4x0", "machine 'twisted:4x0': an axis of a twisted torus has 1 to 16384 routers, not 0"},
        {"twisted:4x4,nodes=0",
         "machine 'twisted:4x4,nodes=0': a twisted torus needs at least 1 node per router"},
        {"twisted:4x4,twist.x=1:0",
         "machine 'twisted:4x4,twist.x=1:0': the twist of axis x shifts that axis itself"},
        {"twisted:4x4,twist.x=0:4",
         "machine 'twisted:4x4,twist.x=0:4': a twist of 4 along axis y is not below its extent 4"},
        {"twisted:4x4,twist.x=0:2,twist.y=2:0",
         "machine 'twisted:4x4,twist.x=0:2,twist.y=2:0': twists form a cycle; let none "
         "shift an "
         "axis whose twist leads back to it"},
        {"twisted:2x2x2x2x2x2x2x2x2",
         "machine 'twisted:2x2x2x2x2x2x2x2x2': a twisted torus has 1 to 8 axes, not 9"},
        {"twisted:4x4,twist.x=2",
         "cannot read machine 'twisted:4x4,twist.x=2': expected a shift for each of the 2 axes at column 21"},
        {"twisted:4x4,twist.z=0:0",
         "cannot read machine 'twisted:4x4,twist.z=0:0': expected one of the 2 axes (x, y, z, a ... or 0, 1, "
         "2 "
         "...) at column 19"},
        {"twisted:4x4,twist=0:2",
         "cannot read machine 'twisted:4x4,twist=0:2': no option of twisted 'twist'; there are: twist.AXIS, "
         "nodes, cards, hosts, bandwidth, latency; at column 13"},
    };
    for (const auto& [text, reason] : bad) CHECK(error_message_of(text) == reason);
}
