// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <set>
#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/network/workloads/traffic_pattern.hpp"

using namespace topoloom;

TEST_CASE("traffic patterns have the destinations of their definitions") {
    Rng rng(1);
    const auto to = [&](const std::string& text, std::uint32_t from) {
        return TrafficPattern(text, 16, 1).draw_destination(Node{from}, rng).value;
    };
    CHECK(to("transpose", 0b0111) == 0b1101);
    CHECK(to("reversal", 0b0111) == 0b1110);
    CHECK(to("complement", 0b0111) == 0b1000);
    CHECK(to("shift", 15) == 0);
    CHECK(to("shift(by=5)", 3) == 8);
    CHECK_FALSE(TrafficPattern("transpose", 16, 1).sends(Node{5}));
    CHECK(TrafficPattern("transpose", 16, 1).sends(Node{7}));
}

TEST_CASE("a random permutation reaches every node, and no node sends to itself") {
    for (const std::size_t nodes : {2U, 3U, 17U, 64U}) {
        const TrafficPattern traffic("permutation", nodes, 3);
        std::set<Node> reached;
        Rng rng(1);
        for (const Node from : ids<Node>(nodes)) {
            CHECK(traffic.sends(from));
            reached.insert(traffic.draw_destination(from, rng));
        }
        CHECK(reached.size() == nodes);
    }
}

TEST_CASE("uniform traffic reaches all other nodes equally often, and a hot spot gets the requested share") {
    Rng rng(7);
    constexpr int packets = 30000;
    std::vector<int> uniform(8), hot(8);
    const TrafficPattern even("uniform", 8, 1), spot("hot-spot(node=5,percent=30)", 8, 1);
    for (int i = 0; i < packets; ++i) {
        ++uniform[even.draw_destination(Node{2}, rng).value];
        ++hot[spot.draw_destination(Node{2}, rng).value];
    }
    CHECK(uniform[2] == 0);
    for (const int node : {0, 1, 3, 4, 5, 6, 7})
        CHECK(uniform[static_cast<std::size_t>(node)] == doctest::Approx(packets / 7.0).epsilon(0.1));
    CHECK(hot[5] == doctest::Approx(packets * (0.3 + 0.7 / 7)).epsilon(0.1));
}

TEST_CASE("unsuitable traffic is refused with a one-line error") {
    const auto refused = [](const std::string& text, std::size_t nodes, const std::string& why) {
        CHECK_THROWS_WITH_AS(TrafficPattern(text, nodes, 1), doctest::Contains(why.c_str()), Error);
    };
    refused("transpose", 8, "needs 4, 16, 64, ... nodes; the machine has 8");
    refused("reversal", 12, "needs 2, 4, 8, ... nodes");
    refused("uniforn", 8, "uniform");
    refused("uniform", 1, "there must be two");
    refused("hot-spot(node=9)", 8, "there is no node 9");
    refused("shift(to=2)", 8, "to");
}
