// SPDX-License-Identifier: BSD-3-Clause
// Boxes inside allocations: all shapes are found, and only boxes that are completely inside.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/full_boxes.hpp"

using namespace topoloom;

namespace {

/// Shapes of all boxes of `cells` cells inside, found by trying every corner and size.
std::set<std::vector<std::uint32_t>> reference_shapes(const Machine& machine, const std::vector<char>& inside,
                                                      std::size_t cells) {
    const std::vector<std::uint32_t> grid = machine.grid();
    std::set<std::vector<std::uint32_t>> shapes;
    std::vector<std::uint32_t> size(grid.size(), 1);
    while (true) {
        std::size_t volume = 1;
        for (const std::uint32_t s : size) volume *= s;
        for (const Node corner : ids<Node>(volume == cells ? machine.node_count() : 0)) {
            bool full = true;
            std::vector<std::uint32_t> offset(grid.size(), 0);
            for (std::size_t k = 0; k < volume && full; ++k) {
                std::vector<std::uint32_t> at = machine.coordinates(corner);
                for (std::size_t d = 0; d < grid.size(); ++d) {
                    at[d] += offset[d];
                    if (at[d] >= grid[d]) full = full && machine.wraps()[d];
                    at[d] %= grid[d];
                }
                full = full && inside[machine.node_at(at).value];
                for (std::size_t d = grid.size(); d-- > 0;) {
                    if (++offset[d] < size[d]) break;
                    offset[d] = 0;
                }
            }
            if (full) shapes.insert(size);
        }
        std::size_t d = grid.size();
        while (d > 0 && ++size[d - 1] > grid[d - 1]) size[--d] = 1;
        if (d == 0) return shapes;
    }
}

/// Number of different coordinates of the nodes on every axis.
std::vector<std::uint32_t> node_extents(const Machine& machine, const std::vector<Node>& nodes) {
    std::vector<std::uint32_t> extents;
    for (std::size_t axis = 0; axis < machine.grid().size(); ++axis) {
        std::set<std::uint32_t> at;
        for (const Node node : nodes) at.insert(machine.coordinates(node)[axis]);
        extents.push_back(static_cast<std::uint32_t>(at.size()));
    }
    return extents;
}

}  // namespace

TEST_CASE("one full box is found for every shape") {
    Rng rng(11);
    for (const std::string text : {"torus:4x4", "mesh:5x4", "torus:3x4x2", "torus:6", "torus:4x3,wrap=01"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        for (int trial = 0; trial < 30; ++trial) {
            std::vector<char> inside(machine.node_count(), 0);
            std::vector<Node> nodes{Node{0}};
            inside[0] = 1;
            for (std::uint32_t v = 1; v < inside.size(); ++v) {
                if (rng.below(4) == 0) continue;
                inside[v] = 1;
                nodes.emplace_back(v);
            }
            const Allocation allocation(machine, nodes);
            for (std::size_t count = 1; count <= nodes.size(); ++count) {
                CAPTURE(count);
                std::set<std::vector<std::uint32_t>> shapes;
                for (const std::vector<Node>& box : full_boxes(allocation, count, 1000)) {
                    REQUIRE(box.size() == count);
                    for (const Node node : box) REQUIRE(inside[node.value]);
                    REQUIRE(shapes.insert(node_extents(machine, box)).second);
                }
                REQUIRE(shapes == reference_shapes(machine, inside, count));
            }
        }
    }
}

TEST_CASE("boxes with the shortest sides come first") {
    const Machine machine = make_machine("torus:8x8x8");
    const auto boxes = full_boxes(Allocation::whole(machine), 64, 3);
    REQUIRE(boxes.size() == 3);
    CHECK(node_extents(machine, boxes[0]) == std::vector<std::uint32_t>{4, 4, 4});
}

TEST_CASE("routers with several nodes are in a box only with all their nodes") {
    const Machine machine = make_machine("torus:4,nodes=2");
    const Allocation seven(machine, {Node{0}, Node{1}, Node{2}, Node{3}, Node{4}, Node{6}, Node{7}});
    CHECK(full_boxes(seven, 3, 10).empty());
    const auto boxes = full_boxes(seven, 6, 10);  // around the ring
    REQUIRE(boxes.size() == 1);
    CHECK(std::set<Node>(boxes[0].begin(), boxes[0].end()) ==
          std::set<Node>{Node{6}, Node{7}, Node{0}, Node{1}, Node{2}, Node{3}});
}
