// SPDX-License-Identifier: BSD-3-Clause
// Nodes chosen for a pattern: valid, never worse than the first free nodes, and optimal in cases with a known
// optimum.
#include "topoloom/choose/choose_nodes.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine_texts.hpp"
#include "metric/random_problem.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

constexpr std::string_view fast = "auto(effort=fast)";

/// All nodes outside an allocation.
Allocation find_free_nodes(const Allocation& busy) {
    std::vector<char> is_busy(busy.machine().node_count(), 0);
    for (const Node node : busy.nodes()) is_busy[node.value] = 1;
    std::vector<Node> nodes;
    for (const Node node : ids<Node>(is_busy.size())) {
        if (!is_busy[node.value]) nodes.push_back(node);
    }
    return {busy.machine(), nodes};
}

Allocation select_first_nodes(const Allocation& free, std::size_t count) {
    return {free.machine(),
            {free.nodes().begin(), free.nodes().begin() + static_cast<std::ptrdiff_t>(count)}};
}

CommGraph make_halo_pattern(const std::vector<GridAxis>& grid, StencilShape shape, Bytes bytes) {
    return stencil(grid, shape, bytes);
}

std::int64_t total_bytes(const CommGraph& graph) { return graph.total_bytes().value; }

}  // namespace

TEST_CASE("chosen nodes are free, sorted and large enough, and their placement has the reported cost") {
    Rng rng(4);
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        std::vector<Node> some = random_subset(machine.usable_nodes(), rng);
        rng.shuffle(std::span(some));
        const Allocation free(machine, some);
        const std::size_t count = 1 + rng.below(static_cast<std::uint32_t>(some.size()));
        const CommGraph graph = random_pattern(
            1 + rng.below(static_cast<std::uint32_t>(count * machine.slots_per_node())), 4 * count, rng);
        const ChosenNodes chosen = choose_nodes(graph, free, count, fast, 7);
        REQUIRE(chosen.allocation.nodes().size() == count);
        auto at = some.begin();
        for (const Node node : chosen.allocation.nodes()) {
            at = std::find(at, some.end(), node);
            REQUIRE(at != some.end());
            ++at;
        }
        const Placement again(chosen.allocation,
                              {chosen.placement.slots().begin(), chosen.placement.slots().end()});
        CHECK(chosen.hop_bytes == hop_bytes(graph, machine, again.slots()));
        CHECK(chosen.hop_bytes <= chosen.first_hop_bytes);
        REQUIRE(chosen.random_hop_bytes.has_value());
        CHECK(chosen.hop_bytes <= *chosen.random_hop_bytes);
        const Allocation first = select_first_nodes(free, count);
        const Problem on_first(graph, first, 7);
        CHECK(chosen.first_hop_bytes == on_first.value(place(on_first, fast).placement.slots()));
        CHECK(choose_nodes(graph, free, count, fast, 7, 1).hop_bytes == chosen.hop_bytes);
    }
}

TEST_CASE("on an empty torus a stencil gets a box of its own shape") {
    const Machine cube = make_machine("torus:12x12x12");
    const CommGraph open =
        make_halo_pattern({{4, false}, {5, false}, {6, false}}, StencilShape::star, Bytes{8});
    CHECK(choose_nodes(open, Allocation::whole(cube), 120, fast).hop_bytes == total_bytes(open));
    const Machine slab = make_machine("torus:4x6x16");  // periodic axes if the machine has rings
    const CommGraph around =
        make_halo_pattern({{4, true}, {6, true}, {5, false}}, StencilShape::star, Bytes{8});
    CHECK(choose_nodes(around, Allocation::whole(slab), 120, fast).hop_bytes == total_bytes(around));
}

TEST_CASE("a free box in a busy machine is found") {
    const Machine machine = make_machine("torus:10x10x10");
    std::vector<Node> free;
    Rng rng(2);
    for (const Node node : ids<Node>(machine.node_count())) {
        const std::vector<std::uint32_t> at = machine.coordinates(node);
        const bool inside = at[0] >= 3 && at[0] < 7 && at[1] >= 2 && at[1] < 5 && (at[2] >= 8 || at[2] < 3);
        if (inside || rng.below(3) == 0) free.push_back(node);
    }
    const CommGraph graph =
        make_halo_pattern({{3, false}, {5, false}, {4, false}}, StencilShape::star, Bytes{100});
    CHECK(choose_nodes(graph, Allocation(machine, free), 60, fast).hop_bytes == total_bytes(graph));
}

TEST_CASE("nodes with several slots are chosen as a whole") {
    const Machine machine = make_machine("torus:8x8x8+node:8");
    const CommGraph graph =
        make_halo_pattern({{8, false}, {8, false}, {8, false}}, StencilShape::star, Bytes{8});
    const Allocation ragged = find_free_nodes(fragmented_allocation(machine, 256, 6, 3));
    const ChosenNodes chosen = choose_nodes(graph, ragged, 64, fast);
    CHECK(chosen.allocation.slot_count() == 512);
    CHECK(chosen.hop_bytes < chosen.first_hop_bytes);
    // On the empty machine, cubes of ranks are on a cube of nodes, each one hop from the next.
    const std::int64_t crossing = 2LL * 3 * 3 * 64 * 8;  // three cuts along each axis, 8 x 8 pairs each
    CHECK(choose_nodes(graph, Allocation::whole(machine), 64, fast).hop_bytes == crossing);
}

TEST_CASE("a pattern on a tree gets nodes under the fewest switches") {
    const Machine tree = make_machine("tree:4:8:4");
    // Eight of every 32 nodes are free, two on every other switch.
    std::vector<Node> free;
    for (const Node node : ids<Node>(tree.node_count())) {
        if (node.value / 4 % 2 == 0 && node.value % 4 < 2) free.push_back(node);
    }
    const CommGraph ring = make_halo_pattern({{8, true}}, StencilShape::star, Bytes{10});
    // All eight nodes are in one group. Of eight pairs of neighbors, four share a switch and four are four
    // hops apart, in both directions.
    CHECK(choose_nodes(ring, Allocation(tree, free), 8, fast).hop_bytes == 2 * 10 * (4 * 2 + 4 * 4));
}

TEST_CASE("an exhausted budget ends the choice early with a valid result") {
    const Machine machine = make_machine("torus:12x12x12");
    const Allocation ragged = find_free_nodes(fragmented_allocation(machine, 700, 9, 1));
    const CommGraph graph = make_halo_pattern({{5, true}, {5, true}, {5, true}}, StencilShape::box, Bytes{8});
    for (const std::uint64_t work : {0U, 1000U, 100'000U, 1'000'000U}) {
        const ChosenNodes chosen = choose_nodes(graph, ragged, 125, "auto", 1, 0, {.work = work});
        CHECK(chosen.allocation.nodes().size() == 125);
        CHECK(chosen.hop_bytes <= chosen.first_hop_bytes);
        CHECK(choose_nodes(graph, ragged, 125, "auto", 1, 1, {.work = work}).hop_bytes == chosen.hop_bytes);
    }
}

TEST_CASE("requests that no choice of nodes can meet are refused") {
    const Machine machine = make_machine("torus:4x4+node:4");
    const Allocation whole = Allocation::whole(machine);
    const CommGraph graph = make_halo_pattern({{4, true}, {5, true}}, StencilShape::star, Bytes{8});
    CHECK_THROWS_WITH_AS((void)choose_nodes(graph, whole, 17),
                         "cannot choose 17 of 16 nodes; ask for 1 to 16", Error);
    CHECK_THROWS_WITH_AS((void)choose_nodes(graph, whole, 4),
                         "20 ranks do not fit on 4 nodes with 4 slots each; choose 5 or more", Error);
    const Allocation half = Allocation::of_slots(machine, {Slot{0}, Slot{1}, Slot{5}});
    CHECK_THROWS_WITH_AS(
        (void)choose_nodes(make_halo_pattern({{2, false}}, StencilShape::star, Bytes{8}), half, 1),
        "nodes can be chosen only where all of their slots are free", Error);
}
