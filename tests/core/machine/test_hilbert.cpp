// SPDX-License-Identifier: BSD-3-Clause
// The Hilbert curve visits everything once and never jumps on a full cube.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "machine/machines.hpp"
#include "topoloom/machine/fragments.hpp"
#include "topoloom/machine/hilbert.hpp"

using namespace topoloom;

TEST_CASE("the order along a Hilbert curve is a permutation of the allocation's positions") {
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        std::vector<std::uint32_t> order = hilbert_order(allocation);
        std::sort(order.begin(), order.end());
        std::vector<std::uint32_t> all(allocation.slot_count());
        std::iota(all.begin(), all.end(), 0U);
        CHECK(order == all);
    }
}

TEST_CASE("on a cube of a power of two the curve goes from neighbor to neighbor, in any dimension") {
    for (const std::string text :
         {"mesh:2", "mesh:16", "mesh:4x4", "mesh:16x16", "mesh:2x2x2", "mesh:8x8x8", "mesh:4x4x4x4",
          "mesh:2x2x2x2x2", "mesh:4x4x4x4x4", "mesh:2x2x2x2x2x2x2x2x2x2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation all = Allocation::whole(machine);
        const auto order = hilbert_order(all);
        for (std::size_t i = 1; i < order.size(); ++i) {
            CHECK(machine.hops(Node{order[i - 1]}, Node{order[i]}) == 1);
        }
    }
}

TEST_CASE("on part of a cube the curve keeps the order it has on the whole") {
    const Machine machine = make_machine("torus:8x8x8");
    const auto whole = hilbert_order(Allocation::whole(machine));
    const Allocation part = fragmented_allocation(machine, 100, 4, 2);
    std::vector<Node> expected;
    for (const std::uint32_t node : whole) {
        if (std::binary_search(part.nodes().begin(), part.nodes().end(), Node{node}))
            expected.push_back(Node{node});
    }
    std::vector<Node> found;
    for (const std::uint32_t position : hilbert_order(part)) found.push_back(part.nodes()[position]);
    CHECK(found == expected);
}

TEST_CASE("the curve does not depend on the order of the allocation's nodes") {
    const Machine machine = make_machine("torus:5x6x7,nodes=2");
    const ids<Node> some(60);
    std::vector<Node> nodes(some.begin(), some.end());
    const auto curve = [&] {
        const Allocation allocation(machine, nodes);
        std::vector<Node> along;
        for (const std::uint32_t position : hilbert_order(allocation))
            along.push_back(allocation.nodes()[position]);
        return along;
    };
    const auto first = curve();
    Rng(3).shuffle(std::span(nodes));
    CHECK(curve() == first);
}

TEST_CASE("slots of a node stay together along the curve, in whatever order they were given") {
    const Machine machine = make_machine("torus:4x4,nodes=2+node:3");
    const ids<Slot> all(machine.slot_count());
    std::vector<Slot> slots(all.begin(), all.end());
    Rng(4).shuffle(std::span(slots));
    slots.resize(60);
    const Allocation allocation = Allocation::of_slots(machine, slots);
    std::vector<Node> visited;
    for (const std::uint32_t position : hilbert_order(allocation)) {
        const Node node = machine.node(allocation.slots()[position]);
        if (visited.empty() || visited.back() != node) visited.push_back(node);
    }
    CHECK(visited.size() == allocation.nodes().size());
}
