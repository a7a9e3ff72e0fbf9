// SPDX-License-Identifier: BSD-3-Clause
// Reproduces published hops and loads.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "pattern/collectives.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

using Cell = std::vector<std::uint32_t>;

/// Hops summed over the directed messages of a periodic stencil with point number i on node node_of[i].
std::int64_t count_hops(const std::string& network, const std::vector<GridAxis>& grid,
                        const std::vector<Node>& node_of) {
    std::vector<std::uint32_t> on_node(make_machine(network).node_count(), 0);
    for (const Node node : node_of) ++on_node[node.value];
    const std::uint32_t most = *std::max_element(on_node.begin(), on_node.end());
    const Machine machine = make_machine(network + "+node:" + std::to_string(most));
    std::vector<Slot> slots;
    std::fill(on_node.begin(), on_node.end(), 0);
    for (const Node node : node_of) slots.push_back(machine.slot(node, on_node[node.value]++));
    const CommGraph graph = stencil(grid, StencilShape::star, Bytes{1});
    return judge(graph, machine, Placement(Allocation::whole(machine), slots)).hop_bytes;
}

/// Calls use(cell) for all cells of the grid, row-major.
void for_each_cell(const std::vector<GridAxis>& grid, const auto& use) {
    Cell cell(grid.size(), 0);
    for (;;) {
        use(cell);
        std::size_t d = grid.size();
        while (d > 0 && ++cell[d - 1] == grid[d - 1].extent) cell[--d] = 0;
        if (d == 0) return;
    }
}

/// Equal boxes of chares on the nodes of a 3-D mesh.
std::int64_t count_box_hops(const Cell& nodes, std::uint32_t chares_per_axis) {
    const std::string text =
        "mesh:" + std::to_string(nodes[0]) + "x" + std::to_string(nodes[1]) + "x" + std::to_string(nodes[2]);
    const Machine machine = make_machine(text);
    const std::vector<GridAxis> grid(3, {chares_per_axis});
    std::vector<Node> node_of;
    for_each_cell(grid, [&](const Cell& c) {
        node_of.push_back(
            machine.node_at({c[0] * nodes[0] / chares_per_axis, c[1] * nodes[1] / chares_per_axis,
                             c[2] * nodes[2] / chares_per_axis}));
    });
    return count_hops(text, grid, node_of);
}

std::string torus_text(const Cell& shape) {
    return "torus:" + std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" +
           std::to_string(shape[2]);
}

/// A 2-D array on a 3-D torus: the short axis along x, the long axis along y within planes and then along z.
std::int64_t count_plane_hops(const Cell& shape, std::uint32_t wide, std::uint32_t tall) {
    const Machine machine = make_machine(torus_text(shape));
    const std::vector<GridAxis> grid{{wide}, {tall}};
    const std::uint32_t plane = tall / shape[2];
    std::vector<Node> node_of;
    for_each_cell(grid, [&](const Cell& c) {
        node_of.push_back(
            machine.node_at({c[0] * shape[0] / wide, c[1] % plane * shape[1] / plane, c[1] / plane}));
    });
    return count_hops(torus_text(shape), grid, node_of);
}

/// Chares assigned round-robin to the processors of a torus by number(x, y); processors are numbered with x
/// fastest.
std::int64_t count_round_robin_hops(const Cell& shape, std::uint32_t wide, std::uint32_t tall,
                                    const auto& number) {
    const Machine machine = make_machine(torus_text(shape));
    const std::vector<GridAxis> grid{{wide}, {tall}};
    std::vector<Node> node_of;
    for_each_cell(grid, [&](const Cell& c) {
        const std::uint32_t rank = number(c[0], c[1]) % (shape[0] * shape[1] * shape[2]);
        node_of.push_back(
            machine.node_at({rank % shape[0], rank / shape[0] % shape[1], rank / shape[0] / shape[1]}));
    });
    return count_hops(torus_text(shape), grid, node_of);
}

}  // namespace

TEST_CASE("3-D stencils on meshes have the hops of Bhatele and Kale 2008, table 4") {
    CHECK(count_box_hops({4, 4, 8}, 32) == 53248);
    CHECK(count_box_hops({4, 4, 8}, 16) == 13312);
    CHECK(count_box_hops({4, 8, 8}, 32) == 69632);
    CHECK(count_box_hops({4, 8, 8}, 16) == 17408);
}

TEST_CASE("2-D stencils on tori have the hops of Bhatele and Kale 2008, table 5") {
    CHECK(count_plane_hops({8, 8, 8}, 64, 1024) == 25600);
    CHECK(count_plane_hops({8, 8, 8}, 32, 512) == 12800);
    CHECK(count_plane_hops({8, 16, 16}, 64, 1024) == 51200);
    CHECK(count_plane_hops({8, 16, 16}, 32, 512) == 25600);
}

TEST_CASE("round-robin has the hops of Bhatele and Kale 2008, table 5, with plain and with hashed indices") {
    const auto flat = [](std::uint32_t x, std::uint32_t y) { return x * 1024 + y; };
    CHECK(count_round_robin_hops({8, 8, 8}, 64, 1024, flat) == 149504);
    const auto hashed = [](std::uint32_t x, std::uint32_t y) {
        const std::uint32_t h = x + std::rotl(y, 21) + std::rotl(y, 16);
        return static_cast<std::uint32_t>((std::uint64_t{h} + 739) % 1280107);
    };
    CHECK(count_round_robin_hops({8, 8, 8}, 32, 512, hashed) == 298736);
}

TEST_CASE(
    "a column group of 48 loads no link on one router chip, and 2 messages per link on two (Aktulga 2012)") {
    const Machine machine = make_machine("torus:17x8x24,nodes=2,hosts=free,bandwidth.y=half+node:24");
    const Allocation all = Allocation::whole(machine);
    const CommGraph group = binomial_tree(48, Bytes{25});  // s = 2.5, in tenths
    const auto consecutive_from = [&](std::uint32_t first) {
        std::vector<Slot> slots;
        for (std::uint32_t i = 0; i < 48; ++i) slots.emplace_back(first + i);
        return judge(group, machine, Placement(all, slots));
    };
    const Judgement aligned = consecutive_from(0);
    CHECK(aligned.dilation_average == 0);
    CHECK(aligned.traffic_average == 0);
    CHECK(aligned.congestion_max == 0);
    const Judgement halved = consecutive_from(24);  // edges 16 -> 24 and 0 -> 32 cross to the next chip
    CHECK(halved.congestion_max == 50);
    CHECK(halved.dilation_average == 2.0 / 47);
}
