// SPDX-License-Identifier: BSD-3-Clause
// Dragonfly+: minimal routes with their shares, wiring, and invalid machines.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

using Shares = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

/// Links by their ends, possibly several per pair.
Shares find_route_shares(const Machine& machine, Node a, Node b) {
    Shares found;
    with_topology(machine, [&](const auto& t) {
        t.route(a, b, [&](Link link, double share) { found[{t.ends(link).from, t.ends(link).to}] += share; });
    });
    return found;
}

}  // namespace

TEST_CASE("a message within a group is split over all spines") {
    const Machine machine = make_machine("dragonflyplus:1x2x4,hosts=free");
    Shares expected;
    for (std::uint32_t spine = 2; spine < 6; ++spine) expected[{0, spine}] = expected[{spine, 1}] = 0.25;
    CHECK(find_route_shares(machine, Node{0}, Node{1}) == expected);
    CHECK(machine.hops(Node{0}, Node{1}) == 2);
}

TEST_CASE("a message between two groups is split over all links between them and the spines at their ends") {
    // Leaves are 0 to 2, spines 3 to 8. Ports of group 0 lead to groups 1, 2, 1, 2 from spines 3, 3, 4, 4.
    const Machine machine = make_machine("dragonflyplus:3x1x2,global=2,hosts=free");
    const Shares expected{{{0, 3}, 0.5}, {{0, 4}, 0.5}, {{3, 5}, 0.5},
                          {{4, 6}, 0.5}, {{5, 1}, 0.5}, {{6, 1}, 0.5}};
    CHECK(find_route_shares(machine, Node{0}, Node{1}) == expected);
    CHECK(machine.hops(Node{0}, Node{1}) == 3);
}

TEST_CASE("routes use the shortest paths over one global link, in equal shares") {
    for_each_topology([]<class T>(const Machine& machine, const T& topology) {
        if constexpr (std::is_same_v<T, Hosted<DragonflyPlus>>) {
            const DragonflyPlusSpec& spec = topology.spec();
            const std::uint32_t leaves = spec.groups * spec.leaves;
            std::vector<LinkEnds> global;
            for (const Link link : ids<Link>(topology.router_network().link_count())) {
                const LinkEnds ends = topology.ends(link);
                if (ends.from >= leaves && ends.to >= leaves) global.push_back(ends);
            }
            const auto group = [&](std::uint32_t spine) { return (spine - leaves) / spec.spines; };
            const auto leaf = [&](Node node) { return topology.router_network().vertex(node); };
            for (const Node a : machine.usable_nodes()) {
                for (const Node b : machine.usable_nodes()) {
                    const std::uint32_t here = leaf(a) / spec.leaves;
                    const std::uint32_t there = leaf(b) / spec.leaves;
                    std::vector<Shares> paths;
                    if (here == there && leaf(a) != leaf(b)) {
                        for (std::uint32_t s = leaves + here * spec.spines;
                             s < leaves + (here + 1) * spec.spines; ++s)
                            paths.push_back({{{leaf(a), s}, 1}, {{s, leaf(b)}, 1}});
                    }
                    for (const auto& [from, to] : global) {
                        if (here == there || group(from) != here || group(to) != there) continue;
                        paths.push_back({{{leaf(a), from}, 1}, {{from, to}, 1}, {{to, leaf(b)}, 1}});
                    }
                    Shares expected;
                    for (const Shares& path : paths) {
                        for (const auto& [ends, one] : path)
                            expected[ends] += one / static_cast<double>(paths.size());
                    }
                    if (a != b && topology.has_host_links()) {
                        expected[{topology.vertex(a), leaf(a)}] = 1;
                        expected[{leaf(b), topology.vertex(b)}] = 1;
                    }
                    const Shares found = find_route_shares(machine, a, b);
                    REQUIRE(found.size() == expected.size());
                    for (const auto& [ends, share] : expected)
                        CHECK(found.at(ends) == doctest::Approx(share).epsilon(1e-12));
                }
            }
        }
    });
}

TEST_CASE("the description of a Dragonfly+ has its sizes, and its links have names") {
    const Machine machine = make_machine("dragonflyplus:3x4x2,nodes=8,global=2");
    CHECK(machine.node_count() == 96);
    CHECK(machine.describe() == "3x4x2 Dragonfly+, 8 nodes per leaf, 2 global links per spine");
    std::set<std::string> names;
    with_topology(machine, [&](const auto& t) {
        for (const Link link : ids<Link>(t.link_count())) names.insert(t.link_name(link));
    });
    CHECK(names.contains("group 1 leaf 3 -> group 1 spine 0"));
    CHECK(names.contains("group 0 spine 1 -> group 2 spine 1 (2 of 2)"));
}

TEST_CASE("an invalid Dragonfly+ is refused with the reason") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"dragonflyplus:0x2x2", "a Dragonfly+ has at least 1 group, and 1 leaf and 1 spine in it"},
        {"dragonflyplus:9x2x2,global=3",
         "9 groups need 8 global ports each, but 2 spines with 3 have only 6; give more global links per "
         "spine"},
        {"dragonflyplus:2x2x2,nodes=2000000000", "the Dragonfly+ has more than 2^31 nodes"},
    };
    for (const auto& [text, reason] : bad) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(make_machine(text), ("machine '" + text + "': " + reason).c_str(), Error);
    }
    CHECK_THROWS_WITH_AS(make_machine("dragonflyplus:4x4"),
                         doctest::Contains("expected GROUPSxLEAVESxSPINES"), Error);
}
