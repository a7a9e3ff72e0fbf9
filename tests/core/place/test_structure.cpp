// SPDX-License-Identifier: BSD-3-Clause
// Recognized patterns reach the best known values for any numbering of ranks.
#include <doctest.h>

#include <algorithm>
#include <set>

#include "changed_graphs.hpp"
#include "pattern/collectives.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/structure/binomial_tree.hpp"
#include "topoloom/place/structure/structure.hpp"

using namespace topoloom;

namespace {

struct PlacedPattern {
    std::int64_t value;
    bool optimal;
    std::string pattern;
};

PlacedPattern place_on(const CommGraph& graph, const Allocation& allocation) {
    const Problem problem(graph, allocation, 1, 1);
    const Budget budget;
    Meter meter(budget);
    const auto found = structure::place_by_structure(problem, meter);
    REQUIRE(found);
    const auto slots = found->placement.slots();
    CHECK(std::set<Slot>(slots.begin(), slots.end()).size() == graph.rank_count());
    return {hop_bytes(graph, allocation.machine(), slots, 1), found->optimal, found->pattern};
}

PlacedPattern place_on(const CommGraph& graph, std::string_view machine_text) {
    const Machine machine = make_machine(machine_text);
    return place_on(graph, Allocation::whole(machine));
}

CommGraph make_stencil(const std::vector<GridAxis>& grid) {
    return stencil(grid, StencilShape::star, Bytes{1});
}

}  // namespace

TEST_CASE("grids on a torus or mesh of their shape take one hop per message, which is reported as optimal") {
    struct GridOnMachine {
        std::vector<GridAxis> grid;
        const char* machine;
    };
    const std::vector<GridOnMachine> cases{
        {{{16, true}, {16, true}, {16, true}}, "torus:16x16x16"},
        {{{6, false}, {4, true}, {5, false}}, "torus:4x5x6"},
        {{{4, true}, {4, true}, {8, true}}, "torus:8x4x4"},
        {{{5, false}, {7, false}}, "mesh:7x5"},
        {{{3, true}, {3, true}, {5, true}}, "torus:3x5x3"},
        {{{64, true}}, "torus:4x4x4"},
        {{{60, false}}, "mesh:3x4x5"},
        {{{2, false}, {2, false}, {2, false}, {2, false}, {2, false}, {2, false}}, "torus:4x4x4"},
        {{{6, false}, {6, false}}, "torus:9x8"},
        {{{8, false}, {8, false}}, "torus:8x2x4"},
        {{{12, false}, {12, false}}, "torus:4x6x6"},
    };
    for (const GridOnMachine& c : cases) {
        CAPTURE(c.machine);
        for (const std::uint64_t seed : {1U, 2U}) {
            const CommGraph graph = renumber_ranks(make_stencil(c.grid), seed);
            const PlacedPattern outcome = place_on(graph, c.machine);
            CHECK(outcome.value == graph.total_bytes().value);
            CHECK(outcome.optimal);
        }
    }
}

TEST_CASE("stencils on hierarchies are no worse than the best known placements, shuffled or not") {
    const auto check = [](const std::vector<GridAxis>& grid, const char* machine, std::int64_t bar) {
        const CommGraph graph = make_stencil(grid);
        CHECK(place_on(graph, machine).value <= bar);
        CHECK(place_on(renumber_ranks(graph, 3), machine).value <= bar);
    };
    check({{8, false}, {8, false}, {8, false}}, "tree:4:8:16,distance=1:10:100", 75'264);
    check({{24, false}, {24, false}}, "tree:4:6:24,distance=1:10:100", 46'272);
    check({{12, false}, {10, false}, {8, false}}, "tree:6:8:20,distance=1:10:100", 122'240);
}

TEST_CASE("the ranks of a torus node form a box of the grid, and so do those of each level in the node") {
    const CommGraph graph = renumber_ranks(make_stencil({{8, false}, {8, false}, {8, false}}), 1);
    // With cubes of 8 ranks on a 4x4x4 torus, 3 * 3 * 64 pairs of ranks are in different cubes, each one hop
    // apart.
    CHECK(place_on(graph, "torus:4x4x4,nodes=8,hosts=free").value == 2 * 3 * 3 * 64);
    CHECK(place_on(graph, "torus:4x4x4+node:8").value == 2 * 3 * 3 * 64);
    // Each cube has 12 pairs of ranks inside, 4 of them between its halves, which are squares of 4.
    CHECK(place_on(graph, "torus:4x4x4+node:4:2,distance=1:3:10").value ==
          2 * (3 * 3 * 64 * 10 + 64 * (8 * 1 + 4 * 3)));
}

TEST_CASE("blocks are boxes if slots have distances to ports, but no placement is called optimal") {
    const CommGraph graph = renumber_ranks(make_stencil({{8, false}, {8, false}, {8, false}}), 1);
    const Machine machine = make_machine("torus:4x4x4+node:8,port=0:1");
    const Allocation allocation = Allocation::whole(machine);
    const Budget budget;
    Meter meter(budget);
    const auto found = structure::place_by_structure(Problem(graph, allocation, 1, 1), meter);
    REQUIRE(found);
    CHECK_FALSE(found->optimal);
    // Each of 3 * 3 * 64 pairs is one hop and at most two port distances apart.
    CHECK(hop_bytes(graph, machine, found->placement.slots()) <= 2 * 3 * 3 * 64 * 3);
    // The blocks fill the levels of this tree exactly, but not the slots with equal port distances.
    const Machine tree = make_machine("tree:8+node:8,distance=1:10,port=0:20");
    const Allocation leaves = Allocation::whole(tree);
    const CommGraph rows = make_stencil({{8, false}, {8, false}});
    const auto boxes = structure::place_by_structure(Problem(rows, leaves, 1, 1), meter);
    REQUIRE(boxes);
    CHECK_FALSE(boxes->plain);
}

TEST_CASE("groups stay together on a tree, and any placement of alltoall is optimal") {
    const CommGraph groups = CommGraph::from_rows(64, [](Rank u, const auto& add) {
        for (const Rank v : ids<Rank>(64)) {
            if (u != v && u.value / 8 == v.value / 8) add(Edge{v, Bytes{5}});
        }
    });
    const PlacedPattern outcome = place_on(renumber_ranks(groups, 1), "tree:4:2:8,distance=1:10:100");
    CHECK(outcome.pattern == "8 groups of 8");
    CHECK(outcome.value == 5 * 64 * (3 * 1 + 4 * 10));
    CHECK(place_on(renumber_ranks(groups, 1), "torus:4x4x4").value == 5 * 64 * 12);  // cubes
    const PlacedPattern all = place_on(alltoall(27, Bytes{2}), "torus:3x3x3");
    CHECK(all.optimal);
    CHECK(all.pattern == "alltoall of 27");
}

TEST_CASE("a hub is placed in the middle, surrounded by its heaviest partners") {
    const CommGraph graph = CommGraph::from_rows(9, [](Rank u, const auto& add) {
        if (u.value > 0) add(Edge{Rank{0}, Bytes{u.value > 4 ? 10 : 1}});
    });
    const PlacedPattern outcome = place_on(renumber_ranks(graph, 4), "mesh:3x3");
    CHECK(outcome.optimal);
    CHECK(outcome.value == 4 * 10 * 1 + 4 * 1 * 2);
    CHECK(place_on(renumber_ranks(graph, 4), "mesh:7x7").value == 4 * 10 * 1 + 4 * 1 * 2);
}

TEST_CASE("binomial trees are halved along the axes, and the roots of the halves are near each other") {
    const auto place_tree = [](std::size_t ranks, const char* machine) {
        return place_on(renumber_ranks(binomial_tree(ranks, Bytes{1}), 5), machine);
    };
    for (const auto& [ranks, machine] :
         {std::pair{8U, "mesh:2x2x2"}, {16U, "mesh:4x4"}, {64U, "torus:4x4x4"}}) {
        const PlacedPattern outcome = place_tree(ranks, machine);
        CHECK(outcome.pattern == "binomial tree of " + std::to_string(ranks));
        CHECK(outcome.value == ranks - 1);
        CHECK(outcome.optimal);
    }
    // Each edge in a cube of 64 ranks is one hop. Its root is next to the middle: three hops from the next
    // root, or five.
    CHECK(place_tree(512, "torus:8x8x8").value == 8 * 63 + 7 * 3);
    CHECK(place_tree(4096, "torus:16x16x16").value == 8 * (8 * 63 + 7 * 3) + 7 * 5);
    CHECK(place_tree(64, "torus:2x4+node:8,distance=1:10").value == 8 * 7 * 1 + 7 * 10);
    CHECK(place_tree(64, "tree:8:8,distance=1:10").value == 8 * 7 * 1 + 7 * 10);
}

TEST_CASE("heavier edges of a binomial tree get shorter routes") {
    // A scatter: each rank receives the data of its subtree.
    const CommGraph scatter = CommGraph::from_rows(8, [](Rank u, const auto& add) {
        for (std::uint32_t size = 4; size > 0; size /= 2) {
            if (u.value % (2 * size) == 0) add(Edge{Rank{u.value + size}, Bytes{size}});
        }
    });
    const Machine path = make_machine("mesh:8");
    std::vector<Slot> order;
    for (const Slot slot : ids<Slot>(8)) order.push_back(slot);
    std::int64_t least = hop_bytes(scatter, path, order, 1);
    while (std::next_permutation(order.begin(), order.end()))
        least = std::min(least, hop_bytes(scatter, path, order, 1));
    CHECK(place_on(renumber_ranks(scatter, 2), "mesh:8").value == least);
}

TEST_CASE("other trees are not recognized as binomial trees") {
    const auto from_parents = [](std::vector<std::uint32_t> parents) {
        return CommGraph::from_rows(parents.size(), [&](Rank u, const auto& add) {
            if (u.value > 0) add(Edge{Rank{parents[u.value]}, Bytes{1}});
        });
    };
    CHECK(structure::find_binomial_tree(from_parents({0, 0, 0, 2, 0, 4, 4, 6}).symmetric()));
    CHECK_FALSE(structure::find_binomial_tree(from_parents({0, 0, 0, 2, 0, 4, 4, 4}).symmetric()));
    CHECK_FALSE(structure::find_binomial_tree(from_parents({0, 0, 0, 2, 0, 4, 5, 6}).symmetric()));
    CHECK_FALSE(structure::find_binomial_tree(from_parents({0, 0, 1, 2, 3, 4, 5, 6}).symmetric()));
    // A graph with as many edges as a tree, but with a triangle and an isolated rank.
    CHECK_FALSE(structure::find_binomial_tree(CommGraph::from_rows(8, [](Rank u, const auto& add) {
                                                  if (u.value > 0 && u.value < 7)
                                                      add(Edge{Rank{0}, Bytes{1}});
                                                  if (u.value == 1) add(Edge{Rank{2}, Bytes{1}});
                                              }).symmetric()));
}

TEST_CASE("a ring that cannot be closed on a mesh is not reported as optimal") {
    const CommGraph graph = make_stencil({{5, true}, {5, true}});
    const PlacedPattern outcome = place_on(graph, "mesh:5x5");
    CHECK_FALSE(outcome.optimal);
    CHECK(outcome.value == 2 * 2 * 5 * (4 + 4));
}

TEST_CASE(
    "structure is never worse than block order on fragmented allocations, with or without spare slots") {
    const Machine torus = make_machine("torus:10x9x8+node:2");
    const Machine tree = make_machine("tree:3:4:7,distance=1:5:20");
    std::vector<CommGraph> graphs;
    graphs.push_back(make_stencil({{6, false}, {5, true}, {2, true}}));
    graphs.push_back(stencil(std::vector<GridAxis>{{9, false}, {7, false}}, StencilShape::box, Bytes{3}));
    graphs.push_back(make_stencil({{61, true}}));
    graphs.push_back(recursive_doubling(64, Bytes{1}));
    for (const CommGraph& graph : graphs) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            std::vector<Allocation> allocations;
            for (const std::size_t spare : {0U, 1U, 5U}) {
                allocations.push_back(
                    fragmented_allocation(torus, (graph.rank_count() + 1) / 2 + spare, 3, seed));
                allocations.push_back(fragmented_allocation(tree, graph.rank_count() + spare, 2, seed));
            }
            const CommGraph shuffled = renumber_ranks(graph, seed);
            for (const Allocation& allocation : allocations) {
                const auto block = allocation.slots().first(graph.rank_count());
                CHECK(place_on(shuffled, allocation).value <=
                      hop_bytes(shuffled, allocation.machine(), block, 1));
            }
        }
    }
}

TEST_CASE(
    "unrecognized patterns get block order, and with an exhausted budget the placement is still complete") {
    const Machine machine = make_machine("torus:8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(60, Bytes{1}, 1, 5);
    CHECK(std::ranges::equal(place(Problem(graph, allocation), "structure").placement.slots(),
                             allocation.slots().first(60)));
    Budget budget;
    budget.work = 1;
    CHECK(place(Problem(make_stencil({{7, false}, {9, false}}), allocation), "structure", budget)
              .placement.rank_count() == 63);
}
