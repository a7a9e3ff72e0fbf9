// SPDX-License-Identifier: BSD-3-Clause
// HyperX and hypercubes compared with their definition (Ahn et al. 2009; Kim, Dally, Abts 2007).
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

using Names = std::vector<std::string>;

/// Coordinates by division, the last axis fastest.
std::vector<std::uint32_t> compute_coordinates(std::uint32_t router, const std::vector<std::uint32_t>& size) {
    std::vector<std::uint32_t> at(size.size());
    for (std::size_t d = size.size(); d-- > 0;) {
        at[d] = router % size[d];
        router /= size[d];
    }
    return at;
}

template <class Use>
void with_hyperx(const std::string& text, const Use& use) {
    with_topology(make_machine(text), [&](const auto& t) {
        if constexpr (requires { t.spec().nodes_per_router + t.spec().size.size(); })
            use(t, t.spec().size, t.spec().nodes_per_router);
    });
}

}  // namespace

TEST_CASE("hops of a HyperX equal the number of axes on which routers differ") {
    for (const std::string text :
         {"hyperx:4x3x5", "hyperx:7x2,nodes=3", "hyperx:8x4x2,order=2:0:1", "hyperx:1x6x1x3",
          "hyperx:3x3x3x3x2", "hypercube:6", "hyperx:4x3,nodes=2,hosts=free", "hypercube:3,nodes=2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        with_hyperx(text, [&](const auto& hyperx, const auto& size, std::uint32_t nodes) {
            for (const Node a : ids<Node>(hyperx.node_count())) {
                for (const Node b : ids<Node>(hyperx.node_count())) {
                    const auto x = compute_coordinates(a.value / nodes, size);
                    const auto y = compute_coordinates(b.value / nodes, size);
                    std::uint32_t differing = 0;
                    for (std::size_t d = 0; d < size.size(); ++d) differing += x[d] == y[d] ? 0 : 1;
                    const std::uint32_t to_routers = a == b ? 0 : 2 * host_hops(hyperx);
                    if (machine.hops(a, b) != differing + to_routers) FAIL_CHECK(a.value, " to ", b.value);
                }
            }
        });
    }
}

TEST_CASE("routes of a HyperX take at most one link along each axis, in the order of axes") {
    const Machine machine = make_machine("hyperx:4x3x5,hosts=free");
    const Node origin{(3 * 3 + 0) * 5 + 4};
    CHECK(route_names(machine, origin, Node{(1 * 3 + 2) * 5 + 0}) ==
          Names{"(3,0,4) to x=1", "(1,0,4) to y=2", "(1,2,4) to z=0"});
    CHECK(route_names(machine, origin, Node{(3 * 3 + 1) * 5 + 4}) == Names{"(3,0,4) to y=1"});
    const Machine ordered = make_machine("hyperx:4x3x5,hosts=free,order=2:0:1");
    CHECK(route_names(ordered, origin, Node{(1 * 3 + 2) * 5 + 0}) ==
          Names{"(3,0,4) to z=0", "(3,0,0) to x=1", "(1,0,0) to y=2"});
    const Machine hosted = make_machine("hyperx:4x3,nodes=2");
    CHECK(route_names(hosted, Node{1}, Node{6}) == Names{"node 1 up", "(0,0) to x=1", "node 6 down"});
    CHECK(route_names(hosted, Node{1}, Node{0}) == Names{"node 1 up", "node 0 down"});
}

TEST_CASE(
    "alltoall puts nodes^2 x routers / extent messages on every link of an axis, for `nodes` per router") {
    // On the link's own axis both ends of a message are fixed. On every other axis one end is fixed and the
    // other is any router.
    for (const std::string text : {"hyperx:4x3x5", "hyperx:4x3x5,order=1:2:0", "hyperx:6x2x1,nodes=3",
                                   "hypercube:5", "hypercube:3,nodes=2,order=2:0:1"}) {
        CAPTURE(text);
        with_hyperx(text, [](const auto& hosted, const auto& size, std::uint32_t nodes) {
            const auto& hyperx = router_network(hosted);
            const std::vector<double> loads = alltoall_loads(hyperx);
            for (const Link link : ids<Link>(hyperx.link_count())) {
                const auto from = compute_coordinates(hyperx.ends(link).from, size);
                const auto to = compute_coordinates(hyperx.ends(link).to, size);
                std::size_t axis = 0;
                while (from[axis] == to[axis]) ++axis;
                CHECK(loads[link.value] ==
                      static_cast<double>(nodes * nodes * hyperx.vertex_count() / size[axis]));
            }
        });
    }
}

TEST_CASE(
    "the average distance between routers of a HyperX is the sum of 1 - 1 / extent, without equal pairs") {
    const Machine machine = make_machine("hyperx:4x3x5,nodes=2");
    CHECK(machine.average_distance() == doctest::Approx((3.0 / 4 + 2.0 / 3 + 4.0 / 5) * 120 / 119 + 2));
    CHECK(make_machine("hyperx:4x3x5,nodes=2,hosts=free").average_distance() ==
          doctest::Approx((3.0 / 4 + 2.0 / 3 + 4.0 / 5) * 120 / 119));
}

TEST_CASE("flattened butterflies of k^n nodes have routers of n (k - 1) + 1 ports (Kim, Dally, Abts 2007)") {
    const Machine line = make_machine("hyperx:32,nodes=32");
    CHECK(line.node_count() == 32 * 32);
    // Of the two links between a node and its router, one leaves the router.
    CHECK((line.link_count() - line.node_count()) / 32 == 2 * 31 + 1);
    const Machine cube = make_machine("hyperx:8x8x8,nodes=8");
    CHECK(cube.node_count() == 8 * 8 * 8 * 8);
    CHECK((cube.link_count() - cube.node_count()) / 512 == 4 * 7 + 1);
    CHECK(cube.describe() == "8x8x8 HyperX, 8 nodes per router");
}

TEST_CASE("a hypercube links routers whose numbers differ in one bit, and has a bisection of N / 2 links") {
    const Machine machine = make_machine("hypercube:8");
    CHECK(machine.describe() == "hypercube of 8 dimensions");
    with_topology(machine, [](const auto& cube) {
        CHECK(cube.diameter() == 8);
        CHECK(cube.link_count() == 8 * 256);
        std::vector<int> across(8, 0);
        for (const Link link : ids<Link>(cube.link_count())) {
            const auto [from, to] = cube.ends(link);
            CHECK(std::has_single_bit(from ^ to));
            if (from < to) ++across[static_cast<std::size_t>(std::countr_zero(from ^ to))];
        }
        for (const int links : across) CHECK(links == 128);
    });
}

TEST_CASE("a hypercube routes over the same routers as the mesh of two routers per axis") {
    const Machine cube = make_machine("hypercube:5,order=3:1:4:0:2");
    const Machine mesh = make_machine("mesh:2x2x2x2x2,order=3:1:4:0:2");
    const auto visited = [](const Machine& machine, Node a, Node b) {
        std::vector<std::uint32_t> vertices;
        with_topology(machine, [&](const auto& t) {
            t.route(a, b, [&](Link link, double) { vertices.push_back(t.ends(link).to); });
        });
        return vertices;
    };
    for (const Node a : ids<Node>(32)) {
        for (const Node b : ids<Node>(32)) CHECK(visited(cube, a, b) == visited(mesh, a, b));
    }
    CHECK(cube.grid() == mesh.grid());
}

TEST_CASE("a hypercube of 20 dimensions needs no table of its pairs") {
    const Machine machine = make_machine("hypercube:20");
    CHECK(machine.node_count() == 1048576);
    CHECK(machine.link_count() == 20 * 1048576);
    CHECK(machine.hops(Node{0}, Node{1048575}) == 20);
    CHECK(machine.hops(Node{0b1010}, Node{0b0110}) == 2);
    CHECK(machine.max_distance() == 20);
}

TEST_CASE("links of an axis have its bandwidth and latency") {
    const Machine machine =
        make_machine("hyperx:3x4,bandwidth=4GB/s,bandwidth.y=half,latency=1us,latency.x=2us");
    with_topology(machine, [](const auto& hosted) {
        const auto& t = router_network(hosted);
        for (const Link link : ids<Link>(t.link_count())) {
            const bool along_x = t.ends(link).from % 4 == t.ends(link).to % 4;
            CHECK(t.bandwidth(link).value == (along_x ? 4e9 : 2e9));
            CHECK(t.latency(link).value == doctest::Approx(along_x ? 2e-6 : 1e-6));
        }
    });
}

TEST_CASE("an invalid HyperX is refused") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"hyperx:4x0", "machine 'hyperx:4x0': an axis of a HyperX has at least 1 router"},
        {"hyperx:2048x2048x2048", "machine 'hyperx:2048x2048x2048': the HyperX has more than 2^31 nodes"},
        {"hyperx:65537",
         "machine 'hyperx:65537': the machine has 4295032832 links; at most 2^32 - 1 are supported"},
        {"hyperx:4,nodes=0", "machine 'hyperx:4,nodes=0': a HyperX needs at least 1 node per router"},
        {"hyperx:4x4,order=0:0",
         "machine 'hyperx:4x4,order=0:0': the routing order must name each axis of the HyperX once"},
        {"hyperx:4xx4", "cannot read machine 'hyperx:4xx4': expected a number at column 10"},
        {"hyperx:4x4,bandwidth.x+=half",
         "cannot read machine 'hyperx:4x4,bandwidth.x+=half': links of a hyperx have no direction: leave out "
         "the "
         "+ or -; at column 12"},
        {"hyperx:4x4,ties=split",
         "cannot read machine 'hyperx:4x4,ties=split': no option of hyperx 'ties'; there are: nodes, "
         "cards, hosts, order, bandwidth, latency; at column 12"},
        {"hypercube:0",
         "cannot read machine 'hypercube:0': a hypercube has 1 to 31 dimensions; at column 11"},
        {"hypercube:40",
         "cannot read machine 'hypercube:40': a hypercube has 1 to 31 dimensions; at column 11"},
        {"hypercube:29",
         "machine 'hypercube:29': the machine has 15569256448 links; at most 2^32 - 1 are supported"},
    };
    for (const auto& [text, reason] : bad) CHECK(error_message_of(text) == reason);
}
