// SPDX-License-Identifier: BSD-3-Clause
// Trees and levels follow the hierarchy strings of KaHIP: levels are listed bottom-up, with absolute
// distances.
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/geometry/levels.hpp"

using namespace topoloom;

namespace {

/// 0 for the same member, otherwise the distance of the lowest level j with p div (a1..aj) == q div (a1..aj).
std::uint32_t reference_distance(const std::vector<std::uint32_t>& arity,
                                 const std::vector<std::uint32_t>& distance, std::uint32_t p,
                                 std::uint32_t q) {
    if (p == q) return 0;
    for (std::size_t j = 0; j < arity.size(); ++j) {
        p /= arity[j];
        q /= arity[j];
        if (p == q) return distance[j];
    }
    FAIL("no common group");
    return 0;
}

}  // namespace

TEST_CASE("members are numbered as in KaHIP, in mixed radix with the first arity fastest") {
    const std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> shapes{
        {{4, 8, 2}, {1, 10, 100}},    {{1}, {0}},       {{3, 5, 7}, {1, 2, 3}},
        {{1, 6, 1, 2}, {1, 2, 3, 4}}, {{5, 1}, {0, 9}}, {{2, 2, 2, 2, 2, 2}, {0, 0, 1, 1, 5, 5}}};
    for (const auto& [arity, distance] : shapes) {
        const Levels levels(arity, distance);
        for (std::uint32_t p = 0; p < levels.size(); ++p) {
            for (std::uint32_t q = 0; q < levels.size(); ++q) {
                if (levels.distance(levels.key(p), levels.key(q)) !=
                    reference_distance(arity, distance, p, q)) {
                    FAIL_CHECK(p, " and ", q, " in levels from ", arity[0], " up");
                }
            }
        }
    }
}

TEST_CASE("on 4:8:2 with 1:10:100 ranks 0 and 3 are 1 apart, 0 and 4 are 10, 0 and 32 are 100") {
    const Machine machine = make_machine("tree:4:8:2,distance=1:10:100");
    CHECK(machine.node_count() == 64);
    CHECK(machine.distance(Slot{0}, Slot{3}) == 1);
    CHECK(machine.distance(Slot{3}, Slot{4}) == 10);
    CHECK(machine.distance(Slot{0}, Slot{31}) == 10);
    CHECK(machine.distance(Slot{31}, Slot{32}) == 100);
    CHECK(machine.hops(Node{0}, Node{3}) == 2);
    CHECK(machine.hops(Node{31}, Node{32}) == 6);
}

TEST_CASE("in a tree without given distances, a distance counts the links up and down") {
    const Machine machine = make_machine("tree:2:2:2");
    CHECK(machine.distance(Slot{0}, Slot{1}) == 2);
    CHECK(machine.distance(Slot{0}, Slot{2}) == 4);
    CHECK(machine.distance(Slot{0}, Slot{7}) == 6);
}

TEST_CASE("link names of a tree contain the group and direction") {
    const Machine machine = make_machine("tree:2:2");
    std::vector<std::string> names;
    with_topology(machine, [&](const auto& t) {
        t.route(Node{1}, Node{2}, [&](Link link, double) { names.push_back(t.link_name(link)); });
    });
    CHECK(names ==
          std::vector<std::string>{"node 1 up", "level 1 group 0 up", "level 1 group 1 down", "node 2 down"});
}

TEST_CASE("links above a level have that level's bandwidth") {
    const Machine machine = make_machine("tree:2:3,bandwidth=1GB/s:250MB/s");
    with_topology(machine, [](const auto& t) {
        std::vector<double> rates;
        t.route(Node{0}, Node{5}, [&](Link link, double) { rates.push_back(t.bandwidth(link).value); });
        CHECK(rates == std::vector<double>{1e9, 2.5e8, 2.5e8, 1e9});
    });
}

TEST_CASE("invalid levels are refused") {
    CHECK_THROWS_WITH_AS(Levels({}, {}), "levels need at least one arity, as in 4:8:2", Error);
    CHECK_THROWS_WITH_AS(Levels({4, 0}, {1, 2}), "level 2 has arity 0; a group has at least one member",
                         Error);
    CHECK_THROWS_WITH_AS(Levels({4, 8}, {10, 1}), "distances must not decrease from one level to the next",
                         Error);
    CHECK_THROWS_WITH_AS(Levels({4, 8}, {1}),
                         "there are 2 levels and 1 distances; give one distance per level", Error);
    CHECK_THROWS_WITH_AS(Levels({65536, 65536}, {1, 2}), "the levels have more than 2^31 members", Error);
}
