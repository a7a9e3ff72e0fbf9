// SPDX-License-Identifier: BSD-3-Clause
// Machine texts are parsed, and invalid ones are refused with the position and a remedy.
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

using namespace topoloom;

namespace {

BytesPerSecond bandwidth_from(const Machine& machine, Node a, Node b) {
    BytesPerSecond found;
    with_topology(machine, [&](const auto& t) {
        t.route(a, b, [&](Link link, double) { found = t.bandwidth(link); });
    });
    return found;
}

Seconds latency_from(const Machine& machine, Node a, Node b) {
    Seconds found;
    with_topology(machine,
                  [&](const auto& t) { t.route(a, b, [&](Link link, double) { found = t.latency(link); }); });
    return found;
}

}  // namespace

TEST_CASE("unknown parts after a topology are refused with the known ones") {
    const std::string known =
        "' is not expected: a machine's text is a network, then +down:FAILED, then +node:SLOTS, as in "
        "torus:4x4+down:3+node:2; at column ";
    for (const std::string network : {"torus:4x4", "mesh:4x4,bandwidth=1GB/s", "tree:4:8",
                                      "graph:4+2:0-4,1-4", "dragonfly:5x4", "rails:4:4:1"}) {
        for (const std::string before : {"", "+down:1", "+node:2", "+down:1+node:2"}) {
            const std::string column = std::to_string((network + before).size() + 1);
            for (const std::string part : {"+foo", "+nod:2", "+Node:2"}) {
                const std::string word = part.substr(0, part.find(':'));
                const std::string said = error_message_of(network + before + part);
                CHECK(said.ends_with("'" + word + known + column));
            }
        }
        CHECK(error_message_of(network + "+node:2+node:2").find("'+node" + known) != std::string::npos);
        CHECK(error_message_of(network + " + node:2").find("is not expected") != std::string::npos);
        CHECK(error_message_of(network + "+down").find("'+down" + known) != std::string::npos);
    }
}

TEST_CASE("a torus text gives extents, rings and one node per router") {
    const Machine machine = make_machine("torus:8x8x8");
    CHECK(machine.grid() == std::vector<std::uint32_t>{8, 8, 8});
    CHECK(machine.wraps() == std::vector<bool>{true, true, true});
    CHECK(machine.node_count() == 512);
    CHECK(machine.slot_count() == 512);
    CHECK(machine.text() == "torus:8x8x8");
    CHECK(machine.describe() == "8x8x8 torus");
}

TEST_CASE("a mesh text gives lines instead of rings") {
    const Machine machine = make_machine("mesh:4x4x4");
    CHECK(machine.wraps() == std::vector<bool>{false, false, false});
    CHECK(machine.hops(Node{0}, Node{63}) == 9);
    CHECK(machine.describe() == "4x4x4 mesh");
}

TEST_CASE("wrap= turns some rings of a torus into lines") {
    CHECK(make_machine("torus:4x5x6,wrap=010").wraps() == std::vector<bool>{false, true, false});
}

TEST_CASE("a machine with two nodes per router and slow y links has 6528 nodes") {
    const Machine machine = make_machine("torus:17x8x24,nodes=2,hosts=free,bandwidth.y=half");
    CHECK(machine.node_count() == 6528);
    CHECK(machine.link_count() + 2 * 6528 ==
          make_machine("torus:17x8x24,nodes=2,bandwidth.y=half").link_count());
    CHECK(bandwidth_from(machine, machine.node_at({0, 0, 0}), machine.node_at({1, 0, 0})).value == 1.0);
    CHECK(bandwidth_from(machine, machine.node_at({0, 0, 0}), machine.node_at({0, 1, 0})).value == 0.5);
    CHECK(bandwidth_from(machine, machine.node_at({0, 0, 0}), machine.node_at({0, 0, 1})).value == 1.0);
}

TEST_CASE("bandwidth and latency are set for all links, for an axis or for one direction, in any order") {
    const Machine machine = make_machine(
        "torus:4x4,bandwidth.y-=double,latency=1.3us,bandwidth=9.4 GB/s,latency.0=90ns,bandwidth.x=75Gbit/s");
    const Node origin = machine.node_at({1, 1});
    CHECK(bandwidth_from(machine, origin, machine.node_at({1, 2})).value == 9.4e9);
    CHECK(bandwidth_from(machine, origin, machine.node_at({1, 0})).value == 2 * 9.4e9);
    CHECK(bandwidth_from(machine, origin, machine.node_at({2, 1})).value == 75e9 / 8);
    CHECK(latency_from(machine, origin, machine.node_at({1, 2})).value == doctest::Approx(1.3e-6));
    CHECK(latency_from(machine, origin, machine.node_at({0, 1})).value == doctest::Approx(90e-9));
}

TEST_CASE("axes beyond the last letter are named by number") {
    std::string text = "torus:2";
    for (int i = 1; i < 30; ++i) text += i < 28 ? "x1" : "x3";
    const Machine machine = make_machine(text + ",bandwidth.29=half,bandwidth.x=double");
    CHECK(bandwidth_from(machine, Node{0}, Node{1}).value == 0.5);
    CHECK(bandwidth_from(machine, Node{0}, Node{3}).value == 1.0);
    CHECK(bandwidth_from(machine, Node{0}, Node{9}).value == 2.0);
}

TEST_CASE("levels inside a node have distances, and the network has a hop weight") {
    const Machine plain = make_machine("torus:4x4+node:12:2");
    CHECK(plain.slots_per_node() == 24);
    CHECK(plain.slot_count() == 384);
    CHECK(plain.distance(Slot{0}, Slot{23}) == 0);
    CHECK(plain.distance(Slot{0}, Slot{24}) == 1);
    CHECK(plain.describe() == "4x4 torus; 24 slots per node");

    const Machine near_far = make_machine("torus:4x4+node:12:2,distance=1:3");
    CHECK(near_far.distance(Slot{0}, Slot{0}) == 0);
    CHECK(near_far.distance(Slot{0}, Slot{11}) == 1);
    CHECK(near_far.distance(Slot{0}, Slot{12}) == 3);
    CHECK(near_far.distance(Slot{0}, Slot{24}) == 6);  // twice the distance of the farthest slot
    CHECK(near_far.max_distance() == 24);
    const Machine given = make_machine("torus:4x4+node:12:2,distance=1:3:1");
    CHECK(given.distance(Slot{0}, Slot{24}) == 1);
    CHECK(given.max_distance() == 4);

    const Machine weighted = make_machine("tree:4:8,distance=1:10+node:2:2,distance=1:2:50");
    CHECK(weighted.distance(Slot{0}, Slot{2}) == 2);
    CHECK(weighted.distance(Slot{0}, Slot{4}) == 50);
    CHECK(weighted.distance(Slot{0}, Slot{16}) == 500);
    CHECK(weighted.max_distance() == 500);
}

TEST_CASE("distances between nodes include the distances of both slots to their network ports") {
    const Machine machine = make_machine("torus:4x4,nodes=2,hosts=free+node:2:4,distance=1:2:10,port=0:3");
    CHECK(machine.distance(Slot{3}, Slot{4}) == 2);
    CHECK(machine.distance(Slot{6}, Slot{7}) == 1);
    CHECK(machine.distance(Slot{3}, Slot{8}) == 0);  // two nodes of the same router
    CHECK(machine.distance(Slot{7}, Slot{8}) == 3);
    CHECK(machine.distance(Slot{0}, Slot{16}) == 10);
    CHECK(machine.distance(Slot{0}, Slot{20}) == 13);
    CHECK(machine.distance(Slot{4}, Slot{23}) == 16);
    CHECK(make_machine("torus:4+node:4,port=5").distance(Slot{0}, Slot{4}) == 11);
    CHECK(make_machine("torus:4+node:4,port=0:0").distance(Slot{0}, Slot{4}) == 1);

    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine any = make_machine(text);
        if (any.slot_count() > 500) continue;
        const Allocation usable = Allocation::whole(any);
        std::uint32_t farthest = 0;
        for (const Slot a : usable.slots()) {
            for (const Slot b : usable.slots()) farthest = std::max(farthest, any.distance(a, b));
        }
        CHECK(any.max_distance() == farthest);
    }
}

TEST_CASE("interchangeable slots have equal distances to all other slots") {
    const auto interchangeable_run_length = [](const std::string& text) {
        return make_machine(text).node_spec().interchangeable_run_length();
    };
    CHECK(interchangeable_run_length("torus:4x4+node:12:2") == 24);
    CHECK(interchangeable_run_length("torus:4x4+node:12:2,distance=1:3") == 12);
    CHECK(interchangeable_run_length("torus:4x4+node:2:3:2,distance=1:1:3") == 6);
    CHECK(interchangeable_run_length("torus:4x4+node:12:2,port=0:1:2") == 8);
    CHECK(interchangeable_run_length("torus:4x4+node:2:3,distance=1:3,port=0:1") == 1);

    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        if (machine.slot_count() > 500) continue;
        const std::uint32_t alike = machine.node_spec().interchangeable_run_length();
        const Allocation usable = Allocation::whole(machine);
        for (const Slot a : usable.slots()) {
            const Slot first{a.value - a.value % alike};
            for (const Slot b : usable.slots()) {
                if (b.value / alike == a.value / alike) continue;
                CHECK(machine.distance(a, b) == machine.distance(first, b));
                CHECK(machine.distance(b, a) == machine.distance(b, first));
            }
        }
    }
}

TEST_CASE("in the text of a graph, switches follow a +, and nodes may have several slots") {
    const Machine machine = make_machine("graph:2+1:0-2,1-2+node:4");
    CHECK(machine.node_count() == 2);
    CHECK(machine.slot_count() == 8);
    CHECK(machine.distance(Slot{0}, Slot{7}) == 2);
}

TEST_CASE("links of a graph may have individual bandwidths besides a default") {
    const Machine machine = make_machine("graph:3:0-1@2GB/s,1-2@half,2-0,bandwidth=8Gbps");
    CHECK(bandwidth_from(machine, Node{0}, Node{1}).value == 2e9);
    CHECK(bandwidth_from(machine, Node{1}, Node{2}).value == 0.5e9);
    CHECK(bandwidth_from(machine, Node{2}, Node{0}).value == 1e9);
}

TEST_CASE("nonexistent coordinates are refused") {
    const Machine machine = make_machine("torus:4x5");
    CHECK_THROWS_WITH_AS((void)machine.node_at({1, 5}),
                         "coordinate 5 is outside 0..4 on axis 1 of the machine", Error);
    CHECK_THROWS_WITH_AS((void)machine.node_at({1}), "coordinates of this machine have 2 numbers, not 1",
                         Error);
}

TEST_CASE("errors in machine texts name the column and the expected token") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"", "expected a topology such as torus:8x8x8 at column 1"},
        {"torus", "expected numbers separated by 'x' at column 6"},
        {"torus:", "expected numbers separated by 'x' at column 7"},
        {"torus:4xx4", "expected a number at column 9"},
        {"torus:4x4x", "expected a number at column 11"},
        {"torus:-4", "expected a number at column 7"},
        {"torus:4x4.5", "expected a number at column 9"},
        {"torus:nan", "expected a number at column 7"},
        {"torus:99999999999", "this number is too large at column 7"},
        {"torus:4x4,", "expected an option of the form key=value at column 11"},
        {"torus:4x4,nodes", "expected an option of the form key=value at column 11"},
        {"torus:4x4,nodes=", "expected a number at column 17"},
        {"torus:4x4,nodes=2,nodes=2", "'nodes' is given twice; at column 19"},
        {"torus:4x4,order=0:x", "expected a number at column 19"},
        {"torus:4x4,ties=minus", "expected plus, split or simgrid at column 16"},
        {"torus:4x4,wrap=1", "expected a 0 or 1 for each of the 2 axes at column 16"},
        {"torus:4x4,bandwidth.z=half",
         "expected one of the 2 axes (x, y, z, a ... or 0, 1, 2 ...) at column 21"},
        {"torus:4x4,bandwidth.=half",
         "expected one of the 2 axes (x, y, z, a ... or 0, 1, 2 ...) at column 21"},
        {"torus:4x4,bandwidth=9 furlongs",
         "cannot read bandwidth '9 furlongs': use B/s or bit/s, as in '9.4 GB/s'; at column 21"},
        {"torus:4x4,bandwidth=0", "bandwidth '0' must be positive; at column 21"},
        {"torus:4x4,bandwidth=nan",
         "cannot read bandwidth 'nan': expected a number and a unit; at column 21"},
        {"torus:4x4,latency=-1us", "time '-1us' must not be negative; at column 19"},
        {"torus:4x4,nods=2",
         "no option of torus 'nods' (did you mean 'nodes'?); there are: wrap, nodes, cards, hosts, order, "
         "ties, bandwidth, latency; at column 11"},
        {"mesh:4x4,wrap=11",
         "no option of mesh 'wrap'; there are: nodes, cards, hosts, order, ties, bandwidth, latency; at "
         "column 10"},
        {"tree:4:8,distanze=1:2",
         "no option of tree 'distanze' (did you mean 'distance'?); there are: distance, bandwidth, latency; "
         "at column 10"},
        {"tree:4::8", "expected a number at column 8"},
        {"tree:4:8,1:10", "expected an option of the form key=value at column 10"},
        {"graph:", "expected a number at column 7"},
        {"graph:x:0-1", "expected a number at column 7"},
        {"graph:2:01", "expected a link such as 0-1 or 0>1 at column 9"},
        {"graph:2:0-1,", "expected a link such as 0-1 or 0>1 at column 13"},
        {"graph:2:0-1@fast", "cannot read bandwidth 'fast': expected a number and a unit; at column 13"},
        {"graph:2:0-1,route=", "expected numbers separated by '>' at column 19"},
        {"torus:4x4+node:", "expected numbers separated by ':' at column 16"},
        {"torus:4x4+node:2,distant=1",
         "no option of node 'distant' (did you mean 'distance'?); there are: distance, port, bandwidth, "
         "startup, latency, memory, memory-startup; at column 18"},
        {"torus:4x4+node:2,distance=1:0", "the weight of a hop must be at least 1; at column 27"},
        {"torus:4x4,cards=0",
         "a node has at least 1 network card; hosts=free has no links to routers; at column 17"},
        {"torus:4x4,hosts=none", "expected free at column 17"},
        {"torus:4x4,nodes=2,hosts=free,bandwidth.host=1GB/s",
         "here nodes have no links to routers; add cards=1, or leave this out; at column 30"},
        {"torus:4x4,cards=2,hosts=free",
         "hosts=free has no links to routers, and cards= has some; leave one of them out; at column 19"},
        {"torus:4x4+node:2+down:3",
         "failures come before the node: a machine's text is a network, then +down:FAILED, then +node:SLOTS, "
         "as in "
         "torus:4x4+down:3+node:2; at column 18"},
        {"torus:4x4,latency.host=1us",
         "here nodes have no links to routers; add cards=1, or leave this out; at column 11"},
        {"torus:4x4+node:2,port=", "expected numbers separated by ':' at column 23"},
        {"torus:4x4+node:2,port=0:x", "expected a number at column 25"},
    };
    for (const auto& [text, reason] : bad) {
        CAPTURE(text);
        CHECK(error_message_of(text) == "cannot read machine '" + text + "': " + reason);
    }
}

TEST_CASE("invalid machines are refused with their text") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"torus:0x4", "an axis of a torus has 1 to 16384 routers, not 0"},
        {"torus:20000", "an axis of a torus has 1 to 16384 routers, not 20000"},
        {"torus:4x4,nodes=0", "a torus needs at least 1 node per router"},
        {"torus:2048x2048x2048", "the torus has more than 2^31 nodes"},
        {"torus:1024x1024x1024", "the machine has 6442450944 links; at most 2^32 - 1 are supported"},
        {"torus:4x4,order=0:2", "the routing order must name each axis of the torus once"},
        {"torus:4x4,order=0", "the routing order must name each axis of the torus once"},
        {"tree:4:0", "level 2 has arity 0; a group has at least one member"},
        {"tree:65536:65536", "the levels have more than 2^31 members"},
        {"tree:1:1:2000000000", "the machine has 12000000000 links; at most 2^32 - 1 are supported"},
        {"tree:4:8,distance=1", "there are 2 levels and 1 distances; give one distance per level"},
        {"tree:4:8,distance=10:1", "distances must not decrease from one level to the next"},
        {"tree:4:8,bandwidth=1GB/s:1GB/s:1GB/s", "a tree of 2 levels needs 2 entries of bandwidth, not 3"},
        {"tree:4:8,distance=1:4000000000", "distances of the machine exceed 2^31; use smaller weights"},
        {"torus:4x4+node:2,distance=4000000000", "distances of the machine exceed 2^31; use smaller weights"},
        {"torus:4x4+node:2,distance=0:4000000000",
         "distances of the machine exceed 2^31; use smaller weights"},
        {"torus:4x4+node:2,port=4000000000", "distances of the machine exceed 2^31; use smaller weights"},
        {"torus:4x4+node:2:2,port=0:1:2",
         "there are 4 slots per node and 3 port costs; give one cost for each of equal runs of slots"},
        {"torus:4x4+node:2,port=0:0:1:1",
         "there are 2 slots per node and 4 port costs; give one cost for each of equal runs of slots"},
        {"torus:4x4+node:0", "level 1 has arity 0; a group has at least one member"},
        {"torus:1024x1024+node:4096", "the machine has more than 2^31 slots"},
    };
    for (const auto& [text, reason] : bad) {
        CAPTURE(text);
        CHECK(error_message_of(text) == "machine '" + text + "': " + reason);
    }
    std::string many = "torus:1";
    for (int i = 0; i < 32; ++i) many += "x1";
    CHECK(error_message_of(many) == "machine '" + many + "': a torus has 1 to 32 axes, not 33");
}

TEST_CASE("an unknown topology is refused with the nearest name") {
    CHECK(error_message_of("tours:4x4")
              .starts_with("no topology 'tours' (did you mean 'torus'?); there are: torus, mesh, twisted, "));
    CHECK(error_message_of("tours:4x4").ends_with(", graph (in machine 'tours:4x4')"));
    CHECK(error_message_of("star:4").starts_with("no topology 'star'; there are: torus, mesh, twisted, "));
}

TEST_CASE("error messages are one short line for any bytes") {
    const std::string garbage = "torus:\n\x01\xff" + std::string(100000, '9') + "\nx";
    for (const std::string& text :
         {garbage, garbage.substr(6), "mesh:4," + garbage, "torus:4," + garbage + "=1"}) {
        const std::string line = error_message_of(text);
        CHECK(line.size() < 400);
        CHECK(line.find('\n') == std::string::npos);
        CHECK(line.find('\xff') == std::string::npos);
        CHECK(line.rfind("none", 0) == std::string::npos);
    }
}

TEST_CASE("random edits of a text give a machine or an Error") {
    Rng rng(11);
    const std::string alphabet = "0123456789x:,=+-.@>ab\n\xff";
    const std::vector<std::string> seeds{
        "torus:4x4,nodes=2,bandwidth.y=half",
        "hypercube:4,nodes=2,order=1:0:2:3",
        "ring:9,rings=2,transfers=3,ties=plus",
        "tree:4:2,distance=1:10+node:2:2,distance=1:2:3",
        "dragonfly:2x1,nodes=2,arrangement=palmtree,routing=ugal,bandwidth.global=half",
        "fattree:2:3,up=1:2,parallel=1:2,routing=random",
        "graph:3+1:0-3,1-3,2>3,3>2@2GB/s,route=0>3>1"};
    for (int round = 0; round < 3000; ++round) {
        std::string text = seeds[static_cast<std::size_t>(round) % seeds.size()];
        for (std::uint32_t edits = 1 + rng.below(3); edits > 0; --edits) {
            const std::uint32_t at = rng.below(static_cast<std::uint32_t>(text.size()));
            const char letter = alphabet[rng.below(static_cast<std::uint32_t>(alphabet.size()))];
            if (rng.below(3) == 0) {
                text.erase(at, 1);
            } else if (rng.below(2) == 0) {
                text[at] = letter;
            } else {
                text.insert(text.begin() + at, letter);
            }
        }
        CHECK_FALSE(error_message_of(text).empty());
    }
}
