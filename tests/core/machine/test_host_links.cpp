// SPDX-License-Identifier: BSD-3-Clause
// Host links between nodes and routers: presence, bandwidth, and unchanged topologies.
#include <string>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

struct HostLink {
    double bandwidth;
    double latency;
};

/// The links from a node to its router and back.
HostLink last_link(const std::string& text) {
    const Machine machine = make_machine(text);
    return with_topology(machine, [&](const auto& t) {
        const Link up{machine.link_count() - 2};
        const Link down{machine.link_count() - 1};
        const std::string node = "node " + std::to_string(machine.node_count() - 1);
        CHECK(t.link_name(up) == node + " up");
        CHECK(t.link_name(down) == node + " down");
        CHECK(t.bandwidth(up) == t.bandwidth(down));
        CHECK(t.latency(up) == t.latency(down));
        return HostLink{t.bandwidth(up).value, t.latency(up).value};
    });
}

}  // namespace

TEST_CASE("nodes have links to switches, and to routers that they share with other nodes") {
    for (const std::string text :
         {"dragonfly:5x4", "dragonfly:5x4,nodes=3", "hyperx:4x3", "hyperx:4x3,nodes=2", "torus:4x4,nodes=2",
          "mesh:4x4,nodes=3", "twisted:4x4,nodes=2", "hypercube:4,nodes=2",
          "torus:2x1x1x1x1x1x1x1x2,nodes=2"}) {
        CAPTURE(text);
        const Machine hosted = make_machine(text);
        const Machine free = make_machine(text + ",hosts=free");
        CHECK(hosted.link_count() == free.link_count() + 2 * hosted.node_count());
        CHECK(hosted.max_distance() == free.max_distance() + 2);
        CHECK(hosted.average_distance() == doctest::Approx(free.average_distance() + 2));
        CHECK(hosted.grid() == free.grid());
        CHECK(hosted.wraps() == free.wraps());
        for (const Node a : ids<Node>(hosted.node_count())) {
            CHECK(hosted.coordinates(a) == free.coordinates(a));
            for (const Node b : ids<Node>(hosted.node_count()))
                CHECK(hosted.hops(a, b) == free.hops(a, b) + (a == b ? 0 : 2));
        }
    }
    for (const std::string text :
         {"torus:4x4", "mesh:4x4", "twisted:4x4", "hypercube:4", "torus:2x1x1x1x1x1x1x1x2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        CHECK(machine.link_count() == make_machine(text + ",hosts=free").link_count());
        CHECK(make_machine(text + ",cards=1").link_count() ==
              machine.link_count() + 2 * machine.node_count());
    }
}

TEST_CASE("a host link has the bandwidth of its node's NICs, each by default as fast as the fastest link") {
    CHECK(last_link("hyperx:4").bandwidth == 1);
    CHECK(last_link("hyperx:4x4,bandwidth.x=double").bandwidth == 2);
    CHECK(last_link("hyperx:4,bandwidth=10GB/s,cards=4").bandwidth == 40e9);
    CHECK(last_link("dragonfly:3x2,bandwidth=10GB/s,bandwidth.global=25GB/s,cards=2").bandwidth == 50e9);
    CHECK(last_link("torus:4,nodes=2,bandwidth=10GB/s,bandwidth.host=8GB/s,cards=3").bandwidth == 24e9);
    CHECK(last_link("torus:4,nodes=2,bandwidth=10GB/s,bandwidth.host=half").bandwidth == 5e9);
    CHECK(last_link("hypercube:3,cards=1,bandwidth.host=25GB/s,bandwidth=10GB/s").bandwidth == 25e9);
}

TEST_CASE("a host link has the machine's latency unless it is given its own") {
    CHECK(last_link("hyperx:4x4").latency == 0);
    CHECK(last_link("hyperx:4x4,latency=2us,latency.x=9us").latency == doctest::Approx(2e-6));
    CHECK(last_link("dragonfly:3x2,latency.host=300ns,latency=1us").latency == doctest::Approx(3e-7));
    CHECK(last_link("twisted:4x4,nodes=2,latency.host=300ns").latency == doctest::Approx(3e-7));
}

TEST_CASE("the description of a machine has the NICs of its nodes, and hosts=free") {
    CHECK(make_machine("torus:4x4,nodes=2").describe() == "4x4 torus, 2 nodes per router");
    CHECK(make_machine("hyperx:4x4,nodes=2,hosts=free").describe() ==
          "4x4 HyperX, 2 nodes per router, hosts free");
    CHECK(make_machine("hyperx:4x4,cards=4").describe() == "4x4 HyperX, 4 network cards per node");
    CHECK(make_machine("torus:4x4,cards=2").describe() == "4x4 torus, 2 network cards per node");
}

TEST_CASE("more nodes and routers than ids are refused") {
    CHECK_NOTHROW(make_machine("hyperx:2,nodes=1073741823,hosts=free"));
    CHECK(error_message_of("hyperx:2,nodes=1073741823") ==
          "machine 'hyperx:2,nodes=1073741823': the machine has more than 2^31 nodes and routers");
}

TEST_CASE("distances between slots include host links, which count as hops") {
    const Machine machine = make_machine("hyperx:4,nodes=2+node:2,distance=5:10,port=0:3");
    CHECK(machine.node_spec().hop_weight == 10);
    CHECK(machine.distance(Slot{0}, Slot{1}) == 5);
    CHECK(machine.distance(Slot{0}, Slot{2}) == 2 * 10);      // to the router's other node
    CHECK(machine.distance(Slot{0}, Slot{4}) == 3 * 10);      // to the next router
    CHECK(machine.distance(Slot{1}, Slot{5}) == 3 * 10 + 6);  // with the distances to both ports
    CHECK(machine.max_distance() == 36);
}
