// SPDX-License-Identifier: BSD-3-Clause
// Fragmented allocations: requested nodes and fragments, the same on every computer.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/allocations/territory.hpp"

using namespace topoloom;

namespace {

std::vector<std::uint32_t> node_numbers(const Allocation& allocation) {
    std::vector<std::uint32_t> values;
    for (const Node node : allocation.nodes()) values.push_back(node.value);
    return values;
}

}  // namespace

TEST_CASE("on a machine with enough nodes an allocation has the requested numbers of nodes and fragments") {
    const std::vector<std::tuple<std::string, std::size_t, std::size_t>> wishes{
        {"torus:16x16x16", 512, 9},
        {"torus:16x16x16", 64, 1},
        {"torus:16x16x16", 40, 40},
        {"torus:24x24", 100, 7},
        {"torus:17x8x24,nodes=2,bandwidth.y=half", 512, 9},
        {"torus:17x8x24,nodes=2", 101, 5},
        {"mesh:10x10x10+node:4", 200, 6},
        {"torus:4x4x4x4x4", 128, 4},
        {"torus:256", 64, 8},
        {"torus:8x8x8", 64, 9},
        {"torus:1", 1, 1},
    };
    for (const auto& [text, count, fragments] : wishes) {
        const Machine machine = make_machine(text);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(text);
            CAPTURE(seed);
            const Allocation allocation = fragmented_allocation(machine, count, fragments, seed);
            CHECK(allocation.nodes().size() == count);
            CHECK(Territory(allocation).component_count() == fragments);
            CHECK(std::is_sorted(allocation.nodes().begin(), allocation.nodes().end()));
        }
    }
}

TEST_CASE("without coordinates every fragment is a range of consecutive nodes") {
    for (const std::string& text : {std::string("tree:4:8:8"), random_graph(100, 3, 8)}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const std::vector<std::uint32_t> some = node_numbers(fragmented_allocation(machine, 30, 4, seed));
            std::size_t runs = 1;
            for (std::size_t i = 1; i < some.size(); ++i) runs += some[i] == some[i - 1] + 1 ? 0 : 1;
            CHECK(runs == 4);
        }
    }
}

TEST_CASE("an allocation without room for gaps still has the requested number of nodes") {
    for (const std::string text : {"torus:4x4x4", "torus:4x4x4,nodes=2", "mesh:8x8", "tree:64", "torus:64"}) {
        const Machine machine = make_machine(text);
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            for (const std::size_t count : {std::size_t{50}, std::size_t{63}, machine.node_count()}) {
                CAPTURE(text);
                const Allocation allocation = fragmented_allocation(machine, count, 20, seed);
                CHECK(allocation.nodes().size() == count);
                CHECK(std::is_sorted(allocation.nodes().begin(), allocation.nodes().end()));
            }
        }
    }
}

TEST_CASE("equal seeds give equal fragments, other seeds other ones") {
    const Machine machine = make_machine("torus:16x16x16");
    const auto first = node_numbers(fragmented_allocation(machine, 512, 9, 1));
    CHECK(node_numbers(fragmented_allocation(machine, 512, 9, 1)) == first);
    CHECK(node_numbers(fragmented_allocation(machine, 512, 9, 2)) != first);
}

TEST_CASE("fragments of a torus are boxes, planes and lines") {
    const Machine machine = make_machine("torus:16x16x16");
    const Allocation allocation = fragmented_allocation(machine, 512, 9, 3);
    std::size_t joined = 0;  // pairs of neighbors within the allocation, in both orders
    for (const Node a : allocation.nodes()) {
        for (const Node b : allocation.nodes()) joined += machine.hops(a, b) == 1 ? 1 : 0;
    }
    CHECK(joined >= 2 * allocation.nodes().size());  // fragments that are trees of neighbors would have fewer
}

TEST_CASE("impossible fragmentations are refused") {
    const Machine machine = make_machine("torus:4x4");
    CHECK_THROWS_WITH_AS((void)fragmented_allocation(machine, 17, 2, 1),
                         "cannot allocate 17 nodes: the machine has 16", Error);
    CHECK_THROWS_WITH_AS((void)fragmented_allocation(machine, 0, 0, 1),
                         "an allocation needs at least one node", Error);
    CHECK_THROWS_WITH_AS((void)fragmented_allocation(machine, 4, 5, 1),
                         "cannot divide 4 nodes into 5 fragments; ask for 1 to 4", Error);
    CHECK_THROWS_WITH_AS((void)fragmented_allocation(machine, 4, 0, 1),
                         "cannot divide 4 nodes into 0 fragments; ask for 1 to 4", Error);
    CHECK_THROWS_WITH_AS(
        (void)fragmented_allocation(make_machine("torus:4x4,nodes=2"), 4, 3, 1),
        "cannot divide 4 nodes into 3 fragments; ask for 1 to 2 (nodes of a router stay together)", Error);
}
