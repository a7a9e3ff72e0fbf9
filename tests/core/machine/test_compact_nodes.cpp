// SPDX-License-Identifier: BSD-3-Clause
// Compact choices of nodes: optimal in small cases, never worse than simple choices.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/compact_nodes.hpp"
#include "topoloom/machine/allocations/fragments.hpp"

using namespace topoloom;

namespace {

std::uint64_t compute_spread(const Machine& machine, std::span<const Node> nodes) {
    std::uint64_t sum = 0;
    for (const Node a : nodes) {
        for (const Node b : nodes) {
            if (a != b) sum += machine.distance(machine.slot(a, 0), machine.slot(b, 0));
        }
    }
    return sum;
}

/// The minimum spread of all choices of nodes.
std::uint64_t min_spread(const Machine& machine, std::span<const Node> nodes, std::size_t count) {
    std::uint64_t least = ~std::uint64_t{0};
    std::vector<char> is_chosen(nodes.size(), 0);
    std::fill(is_chosen.begin(), is_chosen.begin() + static_cast<std::ptrdiff_t>(count), 1);
    do {
        std::vector<Node> some;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (is_chosen[i]) some.push_back(nodes[i]);
        }
        least = std::min(least, compute_spread(machine, some));
    } while (std::prev_permutation(is_chosen.begin(), is_chosen.end()));
    return least;
}

/// The nodes of a box of this size at the origin.
std::vector<Node> box_nodes(const Machine& machine, const std::vector<std::uint32_t>& size) {
    std::vector<Node> nodes;
    for (const Node node : ids<Node>(machine.node_count())) {
        const std::vector<std::uint32_t> at = machine.coordinates(node);
        bool inside = true;
        for (std::size_t axis = 0; axis < at.size(); ++axis) inside = inside && at[axis] < size[axis];
        if (inside) nodes.push_back(node);
    }
    return nodes;
}

}  // namespace

TEST_CASE("the choice is optimal on small machines") {
    for (const std::string& text : machine_texts()) {
        const Machine machine = make_machine(text);
        if (machine.node_count() > 16 || text.find('>') != std::string::npos) continue;
        CAPTURE(text);
        const Allocation whole = Allocation::whole(machine);
        for (std::size_t count = 1; count <= whole.nodes().size(); ++count) {
            CAPTURE(count);
            const std::vector<Node> chosen = compact_nodes(whole, count);
            CHECK(compute_spread(machine, chosen) == min_spread(machine, whole.nodes(), count));
        }
    }
}

TEST_CASE("the choice has the requested number of nodes, each once, from the allocation, in its order") {
    Rng rng(3);
    for_each_topology([&](const Machine& machine, const auto&) {
        std::vector<Node> some = random_subset(machine.usable_nodes(), rng);
        rng.shuffle(std::span(some));
        const Allocation allocation(machine, some);
        for (std::size_t count = 1; count <= some.size(); count = 2 * count + 1) {
            const std::vector<Node> chosen = compact_nodes(allocation, count);
            CHECK(chosen.size() == count);
            auto at = some.begin();
            for (const Node node : chosen) {
                at = std::find(at, some.end(), node);
                REQUIRE(at != some.end());
                ++at;
            }
            CHECK(compact_nodes(allocation, count) == chosen);
        }
    });
}

TEST_CASE("on an empty torus a choice is at least as compact as a box") {
    const Machine cube = make_machine("torus:16x16x16");
    for (const std::uint32_t side : {2U, 3U, 4U, 6U, 8U, 10U}) {
        CAPTURE(side);
        const std::vector<Node> chosen =
            compact_nodes(Allocation::whole(cube), std::size_t{side} * side * side);
        CHECK(compute_spread(cube, chosen) <= compute_spread(cube, box_nodes(cube, {side, side, side})));
    }
    const Machine slab = make_machine("torus:4x4x16");  // a box that fills its short rings is compact
    CHECK(compute_spread(slab, compact_nodes(Allocation::whole(slab), 64)) <=
          compute_spread(slab, box_nodes(slab, {4, 4, 4})));
    const Machine mesh = make_machine("mesh:9x9");
    CHECK(compute_spread(mesh, compact_nodes(Allocation::whole(mesh), 25)) <=
          compute_spread(mesh, box_nodes(mesh, {5, 5})));
}

TEST_CASE("the choice fills whole switches of a tree") {
    const Machine tree = make_machine("tree:8:6:4");
    const Allocation ragged = fragmented_allocation(tree, 100, 9, 2);
    // The optimum uses whole switches of one group.
    CHECK(compute_spread(tree, compact_nodes(Allocation::whole(tree), 16)) == 2 * 8 * 7 * 2 + 2 * 64 * 4);
    CHECK(compute_spread(tree, compact_nodes(ragged, 20)) <= compute_spread(tree, ragged.nodes().first(20)));
}

TEST_CASE("a choice among scattered nodes is never less compact than the first nodes") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Machine machine = make_machine(seed % 2 ? "torus:12x10x8" : "mesh:20x20");
        const Allocation ragged = fragmented_allocation(machine, 200, 12, seed);
        for (const std::size_t count : {5U, 40U, 150U, 200U}) {
            CHECK(compute_spread(machine, compact_nodes(ragged, count)) <=
                  compute_spread(machine, ragged.nodes().first(count)));
        }
    }
}

TEST_CASE("a choice of 0 nodes, or of too many, is refused") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation whole = Allocation::whole(machine);
    CHECK_THROWS_WITH_AS((void)compact_nodes(whole, 17), "cannot choose 17 of 16 nodes; ask for 1 to 16",
                         Error);
    CHECK_THROWS_WITH_AS((void)compact_nodes(whole, 0), "cannot choose 0 of 16 nodes; ask for 1 to 16",
                         Error);
}
