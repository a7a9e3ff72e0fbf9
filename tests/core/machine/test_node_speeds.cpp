// SPDX-License-Identifier: BSD-3-Clause
// Default hop weights, which make other nodes farther than the same node, and default speeds, which are
// assumed and reported.
#include <algorithm>
#include <string>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

using namespace topoloom;

namespace {

using Lines = std::vector<std::string>;

bool has_remark(const std::string& text, const std::string& what) {
    const Machine machine = make_machine(text);
    return std::ranges::any_of(machine.remarks(),
                               [&](const std::string& line) { return line.find(what) != std::string::npos; });
}

}  // namespace

TEST_CASE("by default other nodes are at least twice as far as the farthest slot of the same node") {
    for (const std::string& network : machine_texts()) {
        for (const std::string inside : {"+node:4", "+node:4,distance=3", "+node:2:2,distance=1:7",
                                         "+node:2:2,distance=1:5,port=0:3", "+node:2,distance=9,port=2"}) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const std::vector<Node> nodes = machine.usable_nodes();
            const std::uint32_t farthest = machine.node_spec().levels.distances().back();
            // If nodes are at distance zero, no hop weight makes them farther.
            bool some_together = false;
            for (std::size_t i = 1; i < nodes.size(); ++i)
                some_together = some_together ||
                                machine.distance(machine.slot(nodes[i - 1], 0), machine.slot(nodes[i], 0)) ==
                                    2 * machine.node_spec().port_distance(0);
            if (some_together) continue;
            for (const Node a : nodes) {
                for (const Node b : nodes) {
                    if (a == b) continue;
                    if (machine.distance(machine.slot(a, 0), machine.slot(b, 0)) < 2 * farthest)
                        FAIL_CHECK(a.value, " and ", b.value);
                }
            }
            CHECK(machine.remarks() == make_machine(network + "+node:4").remarks());
        }
    }
}

TEST_CASE("the default hop weight is the smallest that makes other nodes at least twice as far") {
    const auto weight = [](const std::string& text) { return make_machine(text).node_spec().hop_weight; };
    CHECK(weight("torus:4") == 1);
    CHECK(weight("torus:4+node:4") == 1);
    CHECK(weight("torus:4+node:4,distance=3") == 6);
    CHECK(weight("torus:4+node:2:2,distance=1:3") == 6);
    CHECK(weight("tree:4:4+node:4,distance=3") == 3);  // the nearest nodes are 2 hops apart
    CHECK(weight("hyperx:4+node:4,distance=5") == 4);  // 3 apart
    CHECK(weight("hyperx:4,nodes=2+node:4,distance=5") == 5);
    CHECK(weight("torus:4,nodes=2,hosts=free+node:4,distance=5") == 1);
    CHECK(weight("torus:4+node:4,distance=5:1") == 1);
    // No node is adjacent to the node with the next number.
    CHECK(weight("graph:4:0-2,2-1,1-3,3-0+node:4,distance=3") == 6);
    CHECK(weight("graph:2+2:0-2,1-3,2-3,forward=no+node:4,distance=3") == 3);
    CHECK(weight("torus:8+down:1,3,5+node:4,distance=3") == 6);
    CHECK(weight("dragonfly:5x4,hosts=free+down:0,1+node:4,distance=3") == 6);
}

TEST_CASE("a hop weight that makes another node nearer than the same node causes a remark") {
    CHECK(make_machine("torus:4+node:4,distance=3:1").remarks() ==
          Lines{"another node may be nearer (1) than a slot of the own node (3), as the distances were "
                "given; leave "
                "out the weight of a hop to have it fit"});
    CHECK(make_machine("torus:4+node:4,distance=3:3").remarks().empty());
    CHECK(has_remark("torus:4,nodes=2,hosts=free+node:4,distance=3", "hosts=free leaves out the links"));
    CHECK(make_machine("hyperx:4+node:4,distance=3:1").remarks().empty());  // 3 hops
    CHECK(make_machine("torus:1+node:4,distance=3:1").remarks().empty());
}

TEST_CASE("bandwidths are known if each link has at least 100 kB/s") {
    const auto known = [](const std::string& text) { return make_machine(text).has_bandwidths(); };
    CHECK(known("torus:4,bandwidth=9.4GB/s,bandwidth.x+=half"));
    CHECK(known("hyperx:4,nodes=2,bandwidth=9.4GB/s,bandwidth.host=half"));
    CHECK(known("dragonfly:3x2,bandwidth=25GB/s,cards=4"));
    CHECK_FALSE(known("torus:4"));
    CHECK_FALSE(known("torus:4,bandwidth.x+=half"));
    CHECK_FALSE(known("dragonfly:3x2,bandwidth.global=double,bandwidth.host=half"));
    CHECK_FALSE(known("torus:4,bandwidth=10B/s"));
    CHECK_FALSE(known("torus:4+node:4,bandwidth=25GB/s,memory=100GB/s"));
    CHECK(known("torus:1+node:4,memory=100GB/s"));  // no links
    CHECK_FALSE(known("torus:1+node:4"));
}

TEST_CASE("a machine with bandwidths for some links only is refused with a one-line error") {
    for (const auto& [text, fast, speed, other] : std::vector<std::array<std::string, 4>>{
             {"torus:4x4,bandwidth.x=9.4GB/s", "(0,0) +x", "9.4", "(0,0) +y"},
             {"hyperx:4,bandwidth.host=25GB/s", "node 0 up", "25", "(0) to x=1"},
             {"dragonfly:3x2,bandwidth.local=10GB/s", "group 0 router 0 -> router 1", "10",
              "group 0 router 0 -> group 1 router 0"},
             {"rails:2:2:1,bandwidth.nvlink=450GB/s", "GPU 0 -> NVSwitch 0", "450", "GPU 0 -> unit 0 rail 0"},
             {"graph:3:0-1@2GB/s,1-2", "node 0 -> node 1", "2", "node 1 -> node 2"},
             {"torus:4x4,bandwidth.x=9.4GB/s+down:0", "(0,0) +x", "9.4", "(0,0) +y"}}) {
        CAPTURE(text);
        CHECK(error_message_of(text) == "machine '" + text + "': link '" + fast + "' has a bandwidth, " +
                                            speed + " GB/s, but link '" + other +
                                            "' has none; give the bandwidth of all links");
    }
}

TEST_CASE("missing speeds of nodes are assumed and reported if bandwidths are known") {
    const Machine silent = make_machine("hyperx:4,bandwidth=10GB/s+node:4");
    CHECK(silent.speeds().startup == Seconds{0.5e-6});
    CHECK(silent.speeds().latency == Seconds{0.5e-6});
    CHECK(silent.speeds().memory == BytesPerSecond{200e9});
    CHECK(silent.speeds().memory_startup == Seconds{0.3e-6});
    CHECK(silent.remarks() ==
          Lines{"assumed: one network card per node, of 10 GB/s (cards=, bandwidth.host=)",
                "assumed: a message over the network takes its sender 0.5 us, and 0.5 us more to arrive (in "
                "+node: startup=, latency=)",
                "assumed: the messages of a node read 200 GB/s from its memory, and write as much (in +node: "
                "memory=)",
                "assumed: a message inside a node takes its sender 0.3 us (in +node: memory-startup=)"});

    const Machine machine = make_machine(
        "hyperx:4,bandwidth=10GB/s,cards=2"
        "+node:4,bandwidth=15GB/s,startup=1us,latency=2us,memory=50GB/s,memory-startup=400ns");
    CHECK(machine.speeds().port == BytesPerSecond{15e9});
    CHECK(machine.speeds().startup.value == doctest::Approx(1e-6));
    CHECK(machine.speeds().latency.value == doctest::Approx(2e-6));
    CHECK(machine.speeds().memory == BytesPerSecond{50e9});
    CHECK(machine.speeds().memory_startup.value == doctest::Approx(4e-7));
    CHECK(machine.remarks().empty());
}

TEST_CASE("bandwidths below those of real links, and speeds without bandwidths, cause remarks") {
    CHECK(has_remark("torus:4,bandwidth=20kB/s", "below 100 kB/s count as relative"));
    CHECK(has_remark("torus:4x4,bandwidth=1GB/s,bandwidth.y=2kB/s", "below 100 kB/s"));
    CHECK_FALSE(has_remark("torus:4,bandwidth=2", "relative"));
    CHECK(has_remark("torus:4+node:4,startup=5us", "how fast nodes are counts nowhere"));
}

TEST_CASE("only speeds that the pattern needs are assumed") {
    CHECK(make_machine("hyperx:4+node:4").remarks().empty());  // without bandwidths there are no times
    CHECK(make_machine("hyperx:4+node:4").speeds().startup == Seconds{0});
    // One slot per node: no intra-node messages. Whoever gives a startup has considered the latency.
    const Machine flat = make_machine("torus:4,bandwidth=10GB/s+node:1,startup=1us");
    CHECK(flat.speeds().latency == Seconds{0});
    CHECK(flat.remarks().empty());
    CHECK_FALSE(has_remark("torus:4,bandwidth=10GB/s", "network card"));  // no host links
    CHECK_FALSE(has_remark("hyperx:4,bandwidth=10GB/s,hosts=free", "network card"));
    CHECK_FALSE(has_remark("hyperx:4,bandwidth=10GB/s,bandwidth.host=5GB/s", "network card"));
    CHECK(has_remark("hyperx:4,bandwidth=10GB/s+node:1,startup=1us", "network card"));
    // One node: no inter-node messages.
    const Machine one = make_machine("torus:1+node:4,memory=100GB/s");
    CHECK(one.remarks() ==
          Lines{"assumed: a message inside a node takes its sender 0.3 us (in +node: memory-startup=)"});
    CHECK(has_remark("torus:4,bandwidth=10GB/s+node:4,latency=1us",
                     "takes its sender 0.5 us (in +node: startup="));
    CHECK_FALSE(has_remark("torus:4,bandwidth=10GB/s+node:4,latency=1us", "to arrive"));
}

TEST_CASE("a degraded machine has the same assumed speeds") {
    CHECK(make_machine("hyperx:4,bandwidth=10GB/s+down:1+node:4").remarks() ==
          make_machine("hyperx:4,bandwidth=10GB/s+node:4").remarks());
}
