// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/choose/machine_bisection.hpp"

#include <doctest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "../machine/machine_texts.hpp"
#include "topoloom/metric/bisection_bound.hpp"

using namespace topoloom;

namespace {

constexpr std::size_t few = 16;  // maximum number of vertices; 2^16 ways to halve them

/// Reference: the minimum bandwidth of all bisections of the vertices that halve the nodes.
template <class T>
double min_bisection_bandwidth(const Machine& machine, const T& network, const NodeHalves& halves) {
    std::vector<LinkEnds> ends;
    std::vector<double> bandwidth;
    for (const Link link : ids<Link>(network.link_count())) {
        if constexpr (requires { network.is_up(link); }) {
            if (!network.is_up(link)) continue;
        }
        ends.push_back(network.ends(link));
        bandwidth.push_back(network.bandwidth(link).value);
    }
    std::vector<std::uint32_t> vertex;
    for (const Node node : machine.usable_nodes()) vertex.push_back(network.vertex(node));
    double worst = std::numeric_limits<double>::infinity();
    for (std::uint32_t sides = 0; sides < 1U << network.vertex_count(); ++sides) {
        const auto first =
            static_cast<std::uint64_t>(std::ranges::count_if(vertex, [&](auto v) { return sides >> v & 1; }));
        if (std::max(first, vertex.size() - first) > halves.larger) continue;
        double cut = 0;
        for (std::size_t link = 0; link < ends.size(); ++link) {
            if ((sides >> ends[link].from & 1) != (sides >> ends[link].to & 1)) cut += bandwidth[link];
        }
        worst = std::min(worst, cut);
    }
    return worst;
}

MachineBisection find_bisection(const std::string& text) { return bisect_machine(make_machine(text), 1); }

}  // namespace

TEST_CASE(
    "the bisection of a small machine is the minimum over all halvings, and its lower bound is no higher") {
    int exact = 0;
    for_each_topology([&](const Machine& machine, const auto& network) {
        const NodeHalves halves = halve_nodes(machine);
        const auto& routers = router_network(network);  // other vertices stay on the side of their nodes
        if (routers.vertex_count() > few || halves.smaller == 0) return;
        const double worst = min_bisection_bandwidth(machine, routers, halves);
        const MachineBisection found = bisect_machine(machine, 1);
        CHECK(found.at_most.value == doctest::Approx(worst));
        CHECK(found.at_least.value <= worst * (1 + 1e-9));
        exact += found.is_exact() ? 1 : 0;
    });
    CHECK(exact > 10);
}

TEST_CASE("bisections of tori and meshes equal the textbook values, and their bounds prove them") {
    for (const auto& [text, links] : std::vector<std::pair<std::string, std::size_t>>{
             {"torus:8x8x8", 256},  // 64 rings, each cut at 2 cables with 2 directions
             {"mesh:8x8x8", 128},
             {"torus:16x8x4", 128},
             {"torus:25x32x24", 2400},
             {"torus:24x23x24x2x3x2,wrap=111010", 26496},
             {"torus:8x12x16x16x2", 12288},
             {"torus:2x2x2x2x2x2x2", 256},  // axes of 2 routers have two cables
             {"mesh:2x2x2x2x2x2x2", 128},
             {"torus:12", 4}}) {
        CAPTURE(text);
        const MachineBisection found = find_bisection(text);
        CHECK(found.link_count == links);
        CHECK(found.at_most.value == static_cast<double>(links));
        CHECK(found.is_exact());
    }
}

TEST_CASE("an axis of odd extent leaves a gap between the bisection and its bound") {
    const MachineBisection found = find_bisection("torus:25x16x24");
    CHECK(found.link_count == 1600);
    CHECK_FALSE(found.is_exact());
    CHECK(found.at_least.value > 0.96 * 1600);
}

TEST_CASE("with different bandwidths the cut is across the axis with the least total bandwidth") {
    const MachineBisection found =
        find_bisection("torus:23x24x24,nodes=2,bandwidth=9.4GB/s,bandwidth.y=half");
    CHECK(found.link_count == 4 * 23 * 24);
    CHECK(found.at_most.value == doctest::Approx(4 * 23 * 24 * 4.7e9));
    CHECK(found.is_exact());
}

TEST_CASE("a tree is cut at the level with the least uplink bandwidth per node") {
    const MachineBisection top = find_bisection("tree:4:8:2");
    CHECK(top.at_most.value == 2);  // the link of one group, both ways
    CHECK(top.is_exact());
    const MachineBisection bottom = find_bisection("tree:4:8:2,bandwidth=1:8:64");
    CHECK(bottom.at_most.value == 64);  // host links of 32 nodes
    CHECK(bottom.is_exact());
}

TEST_CASE(
    "bisections of fat trees, dragonflies, HyperX and rail clusters are proven, and equal cable counts") {
    for (const auto& [text, links] : std::vector<std::pair<std::string, std::size_t>>{
             {"fattree:16:16:16", 4096},  // full bisection: every node sends and receives
             {"fattree:44:182,up=1:6,parallel=1:3", 2 * 91 * 18},
             {"fattree:8:8:4,up=1:2:2", 2 * 2 * 4},      // 4 cables above each of 4 subtrees
             {"hyperx:8x8x4,nodes=16", 2 * 64 * 2 * 2},  // across z
             {"hypercube:14", 16384},
             {"dragonfly:74x32,nodes=4,global=10", 2 * 37 * 37 * 4},
             {"dragonflyplus:8x8x7,nodes=8", 2 * 4 * 4},
             {"rails:8:32:4", 1024},
             {"rails:8:32:4,spines=8", 2 * 2 * 8 * 8}}) {  // 8 of 32 uplinks
        CAPTURE(text);
        const bool rails = text.starts_with("rails");
        const MachineBisection found = find_bisection(rails ? text + ",bandwidth.nvlink=9" : text);
        CHECK(found.link_count == links);
        CHECK(found.at_most.value == static_cast<double>(links));
        CHECK(found.is_exact());
    }
}

TEST_CASE("a single node cannot be halved") {
    const MachineBisection found = find_bisection("torus:1");
    CHECK(found.at_most.value == 0);
    CHECK(found.link_count == 0);
    CHECK(found.is_exact());
}

TEST_CASE("an odd number of routers is divided into halves that differ by one router") {
    CHECK(halve_nodes(make_machine("torus:3x3,nodes=2")).larger == 10);
    CHECK(halve_nodes(make_machine("torus:3x3,nodes=2")).smaller == 8);
    CHECK(halve_nodes(make_machine("tree:5")).larger == 3);
}
