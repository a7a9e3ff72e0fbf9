// SPDX-License-Identifier: BSD-3-Clause
// Space-filling curves visit every cell once; all except Morton's are continuous on full cubes of a suitable
// size.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/curves.hpp"
#include "topoloom/machine/allocations/fragments.hpp"

using namespace topoloom;

namespace {

constexpr std::array all_curves{Curve::hilbert, Curve::morton, Curve::peano, Curve::snake};

std::vector<std::uint32_t> sorted_copy(std::vector<std::uint32_t> order) {
    std::ranges::sort(order);
    return order;
}

std::vector<std::uint32_t> ascending_numbers(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

void check_steps_are_hops(Curve curve, const std::string& text) {
    CAPTURE(text);
    const Machine machine = make_machine(text);
    const auto order = sort_along_curve(curve, Allocation::whole(machine));
    CHECK(order == sort_along_curve(curve, machine.grid()));
    for (std::size_t i = 1; i < order.size(); ++i)
        CHECK(machine.hops(Node{order[i - 1]}, Node{order[i]}) == 1);
}

}  // namespace

TEST_CASE("the order along a curve is a permutation of the allocation's positions") {
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const Curve curve : all_curves)
            CHECK(sorted_copy(sort_along_curve(curve, allocation)) ==
                  ascending_numbers(allocation.slot_count()));
    }
}

TEST_CASE("the order along a curve is a permutation of a grid's cells") {
    for (const std::vector<std::uint32_t>& extents :
         {std::vector<std::uint32_t>{1}, {17}, {3, 10}, {9, 9}, {2, 5, 7}, {4, 1, 3, 5}}) {
        const std::size_t cells =
            std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
        for (const Curve curve : all_curves)
            CHECK(sorted_copy(sort_along_curve(curve, extents)) == ascending_numbers(cells));
    }
}

TEST_CASE(
    "Hilbert's curve visits neighbors in sequence on cubes with a power of two as side, in any dimension") {
    for (const std::string text :
         {"mesh:2", "mesh:16", "mesh:4x4", "mesh:16x16", "mesh:2x2x2", "mesh:8x8x8", "mesh:4x4x4x4",
          "mesh:2x2x2x2x2", "mesh:4x4x4x4x4", "mesh:2x2x2x2x2x2x2x2x2x2"})
        check_steps_are_hops(Curve::hilbert, text);
}

TEST_CASE("Peano's curve visits neighbors in sequence on cubes with a power of three as side") {
    for (const std::string text : {"mesh:3", "mesh:27", "mesh:3x3", "mesh:27x27", "mesh:3x3x3", "mesh:9x9x9",
                                   "mesh:9x9x9x9", "mesh:3x3x3x3x3x3"})
        check_steps_are_hops(Curve::peano, text);
}

TEST_CASE("the snake curve visits neighbors in sequence on every grid") {
    for (const std::string text :
         {"mesh:7", "mesh:4x5", "mesh:5x4", "mesh:3x5x7", "mesh:2x3x4x5", "mesh:2x2x2x2x2x2x2x2"})
        check_steps_are_hops(Curve::snake, text);
}

TEST_CASE("Peano's curve on 3 x 3 cells is the one that he drew") {
    const std::vector<std::uint32_t> square{3, 3};
    CHECK(sort_along_curve(Curve::peano, square) == std::vector<std::uint32_t>{0, 1, 2, 5, 4, 3, 6, 7, 8});
}

TEST_CASE("Morton's order interleaves bits, the first axis first") {
    const std::vector<std::uint32_t> extents{8, 4, 16};
    const auto order = sort_along_curve(Curve::morton, extents);
    std::vector<std::uint64_t> keys;
    for (const std::uint32_t cell : order) {
        const std::array at{cell / 64, cell / 16 % 4, cell % 16};
        std::uint64_t key = 0;
        for (std::uint32_t bit = 0; bit < 4; ++bit) {
            for (std::uint32_t axis = 0; axis < 3; ++axis)
                key |= std::uint64_t{at[axis] >> bit & 1U} << (3 * bit + 2 - axis);
        }
        keys.push_back(key);
    }
    CHECK(std::ranges::is_sorted(keys));
}

TEST_CASE("on a part of a machine, nodes have the same order as on the whole machine") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation part = fragmented_allocation(machine, 100, 4, 2);
    for (const Curve curve : all_curves) {
        std::vector<Node> expected;
        for (const std::uint32_t node : sort_along_curve(curve, Allocation::whole(machine))) {
            if (std::binary_search(part.nodes().begin(), part.nodes().end(), Node{node}))
                expected.push_back(Node{node});
        }
        std::vector<Node> found;
        for (const std::uint32_t position : sort_along_curve(curve, part))
            found.push_back(part.nodes()[position]);
        CHECK(found == expected);
    }
}

TEST_CASE("a curve does not depend on the order of the allocation's nodes") {
    const Machine machine = make_machine("torus:5x6x7,nodes=2");
    const ids<Node> some(60);
    for (const Curve curve : all_curves) {
        std::vector<Node> nodes(some.begin(), some.end());
        const auto along = [&] {
            const Allocation allocation(machine, nodes);
            std::vector<Node> visited;
            for (const std::uint32_t position : sort_along_curve(curve, allocation))
                visited.push_back(allocation.nodes()[position]);
            return visited;
        };
        const auto first = along();
        Rng(3).shuffle(std::span(nodes));
        CHECK(along() == first);
    }
}

TEST_CASE("slots of a node stay together along a curve, whatever the order of slots in the allocation") {
    const Machine machine = make_machine("torus:4x4,nodes=2+node:3");
    const ids<Slot> all(machine.slot_count());
    std::vector<Slot> slots(all.begin(), all.end());
    Rng(4).shuffle(std::span(slots));
    slots.resize(60);
    const Allocation allocation = Allocation::of_slots(machine, slots);
    for (const Curve curve : all_curves) {
        std::vector<Node> visited;
        for (const std::uint32_t position : sort_along_curve(curve, allocation)) {
            const Node node = machine.node(allocation.slots()[position]);
            if (visited.empty() || visited.back() != node) visited.push_back(node);
        }
        CHECK(visited.size() == allocation.nodes().size());
    }
}
