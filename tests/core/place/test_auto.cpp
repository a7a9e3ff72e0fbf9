// SPDX-License-Identifier: BSD-3-Clause
// auto is never worse than the mappers that it combines, also on tiny and irregular problems.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <set>

#include "../base/limited_memory.hpp"
#include "../machine/machine_texts.hpp"
#include "../metric/random_problem.hpp"
#include "changed_graphs.hpp"
#include "pattern/collectives.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

std::int64_t value_by(const Problem& problem, std::string_view chain, const Budget& budget = {}) {
    return problem.value(place(problem, chain, budget).placement.slots());
}

bool has_one_rank_per_slot(const Placement& placement) {
    return std::set<Slot>(placement.slots().begin(), placement.slots().end()).size() ==
           placement.rank_count();
}

/// A pattern in which every rank exchanges messages with rank 0.
CommGraph make_star(std::size_t ranks, Bytes bytes) {
    return CommGraph::from_rows(ranks, [&](Rank u, const auto& add) {
        if (u.value > 0) return add(Edge{Rank{0}, bytes});
        for (std::uint32_t v = 1; v < ranks; ++v) add(Edge{Rank{v}, bytes});
    });
}

}  // namespace

TEST_CASE("auto is never worse than block order or the mappers that it combines") {
    Rng rng(1);
    for (const std::string text :
         {"torus:4x4x4", "mesh:9x7", "tree:4:4:4,distance=1:10:100", "torus:3x5+node:3:2,distance=1:2:5",
          "torus:2x3x4,nodes=2", "torus:3x4+node:4,port=0:0:9:3",
          "graph:4:0-1,1-2,2-3,3-0,route=0>3>2>1,route=2>3>0"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::size_t slots = allocation.slot_count();
        std::vector<CommGraph> graphs;
        graphs.push_back(random_pattern(slots, 5 * slots, rng));
        graphs.push_back(renumber_ranks(ring(slots - slots / 5, Bytes{10}), 2));
        if (slots > 10) graphs.push_back(random_geometric(slots - 1, Bytes{100}, 3, 5));
        for (const CommGraph& graph : graphs) {
            const Problem problem(graph, allocation, 5, 2);
            const std::int64_t found = value_by(problem, "auto(effort=fast)");
            for (const std::string chain : {"block", "multisection+swap", "structure"}) {
                CAPTURE(chain);
                CHECK(found <= value_by(problem, chain));
            }
        }
    }
}

TEST_CASE("ranks with inter-node messages are placed on the slots nearest to the network port") {
    // Of each 8 ranks, one mainly sends to ranks of other nodes.
    constexpr std::uint32_t cores = 8;
    const CommGraph graph = CommGraph::from_rows(4 * cores, [](Rank u, const auto& add) {
        const std::uint32_t first = u.value / cores * cores;
        add(Edge{Rank{first + (u.value + 1) % cores}, Bytes{100}});
        if (u.value != first) return;
        for (std::uint32_t other = 0; other < 4 * cores; other += cores) {
            if (other != first) add(Edge{Rank{other}, Bytes{10}});
        }
    });
    const CommGraph shuffled = renumber_ranks(graph, 3);
    for (const std::string text :
         {"torus:4+node:4:2,distance=1:2:5,port=6:0", "tree:4+node:8,port=2:2:2:2:2:2:2:0"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const Problem problem(shuffled, allocation, 1, 1);
        for (const std::string chain : {"auto(effort=fast)", "auto", "multisection+swap"}) {
            CAPTURE(chain);
            const Placement placement = place(problem, chain, {.work = 500'000}).placement;
            std::int64_t ports = 0;  // bytes times distances to ports
            for (const Rank u : ids<Rank>(shuffled.rank_count())) {
                for (const Edge edge : shuffled.sends(u)) {
                    const Slot from = placement[u];
                    const Slot to = placement[edge.peer];
                    if (machine.node(from) == machine.node(to)) continue;
                    for (const Slot slot : {from, to})
                        ports += edge.bytes.value * machine.node_spec().port_distance(slot.value % cores);
                }
            }
            CHECK(ports == 0);
        }
    }
}

TEST_CASE("every effort is at least as good as multisection and swap") {
    const Machine machine = make_machine("torus:4x4x3");
    const Allocation allocation = fragmented_allocation(machine, 40, 3, 1);
    const CommGraph graph = random_geometric(38, Bytes{100}, 2, 6);
    const Problem problem(graph, allocation, 1, 2);
    Budget budget;
    budget.work = 1'000'000;
    for (const std::string chain :
         {"auto(effort=fast)", "auto", "auto(effort=default)", "auto(effort=best)"}) {
        CAPTURE(chain);
        CHECK(value_by(problem, chain, budget) <= value_by(problem, "multisection+swap"));
    }
    CHECK_THROWS_WITH_AS(
        (void)place(problem, "auto(effort=bets)"),
        "no value of option effort of auto 'bets' (did you mean 'best'?); there are: fast, default, best",
        Error);
}

TEST_CASE("shuffled stencils on a torus or mesh of their shape reach the optimum: one hop per message") {
    const auto check = [](const std::string& text, std::span<const GridAxis> grid) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = renumber_ranks(stencil(grid, StencilShape::star, Bytes{1000}), 7);
        CHECK(value_by(Problem(graph, allocation), "auto") == graph.total_bytes().value);
    };
    const std::array<GridAxis, 2> square{{{6, true}, {5, true}}};
    const std::array<GridAxis, 3> cube{{{5, true}, {6, true}, {7, true}}};
    const std::array<GridAxis, 3> open{{{4, false}, {8, false}, {3, false}}};
    check("torus:6x5", square);
    check("torus:5x6x7", cube);
    check("mesh:4x8x3", open);
    check("torus:8x8x8", std::array<GridAxis, 3>{{{8, true}, {8, true}, {8, true}}});
}

TEST_CASE("patterns that no search can improve are placed like block order") {
    const Machine machine = make_machine("torus:4x4+node:2");
    const Allocation allocation = Allocation::whole(machine);
    Rng rng(2);
    std::vector<CommGraph> graphs;
    graphs.push_back(CommGraph::from_rows(20, [](Rank, const auto&) {}));  // isolated ranks
    graphs.push_back(CommGraph::from_rows(1, [](Rank, const auto&) {}));   // one rank
    graphs.push_back(CommGraph::from_rows(1, [](Rank u, const auto& add) { add(Edge{u, Bytes{9}}); }));
    graphs.push_back(ring(32, Bytes{0}));      // messages of 0 bytes
    graphs.push_back(alltoall(32, Bytes{3}));  // all ranks are equivalent, and no slot is free
    for (const CommGraph& graph : graphs) {
        const Problem problem(graph, allocation, 1, 2);
        for (const std::string chain : {"auto(effort=fast)", "auto"}) {
            const PlaceResult result = place(problem, chain);
            CHECK(has_one_rank_per_slot(result.placement));
            CHECK(problem.value(result.placement.slots()) == value_by(problem, "block"));
        }
    }
}

TEST_CASE("isolated ranks, edges without bytes, and few ranks on many slots are placed") {
    Rng rng(3);
    for (const std::string text :
         {"torus:4x4x4", "tree:4:4:4,distance=1:10:100", "torus:1+node:4:8,distance=1:5", "torus:60"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const std::size_t ranks : {std::size_t{2}, std::size_t{7}, machine.slot_count()}) {
            CAPTURE(ranks);
            const CommGraph sparse = random_pattern(ranks, ranks / 2 + 1, rng);  // most ranks isolated
            const Problem problem(sparse, allocation, 1, 2);
            const PlaceResult result = place(problem, "auto(effort=fast)");
            CHECK(has_one_rank_per_slot(result.placement));
            CHECK(problem.value(result.placement.slots()) <= value_by(problem, "multisection+swap"));
        }
    }
}

TEST_CASE("the hub of a star is placed in the middle, and 256 ranks with alltoall as in block order") {
    const Machine machine = make_machine("torus:16x16");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph hub = renumber_ranks(make_star(256, Bytes{5}), 3);
    const Problem around(hub, allocation, 1, 2);
    std::int64_t total = 0;  // on a torus every slot is the middle
    for (const Slot slot : allocation.slots()) total += machine.distance(Slot{0}, slot);
    CHECK(value_by(around, "auto") == 10 * total);
    const CommGraph clique = alltoall(256, Bytes{1});
    const Problem all(clique, allocation, 1, 2);
    CHECK(value_by(all, "auto(effort=fast)") == value_by(all, "block"));
    // With spare slots, the ranks of a star surround its hub: 4 at one hop, 8 at two.
    const CommGraph small = make_star(13, Bytes{1});
    CHECK(value_by(Problem(small, allocation), "auto") == 2 * (4 + 8 * 2));
}

TEST_CASE(
    "remapping is never worse than staying, than resettle, or than a placement that ignores migration cost") {
    Rng rng(4);
    const Machine machine = make_machine("torus:4x4x4");
    const Allocation allocation = fragmented_allocation(machine, 50, 3, 2);
    const CommGraph graph = random_geometric(45, Bytes{100}, 5, 6);
    const Placement before = random_placement(allocation, 45, rng);
    for (const std::int64_t cost : {0LL, 10LL, 300LL, 100000LL}) {
        CAPTURE(cost);
        Migration migration{{before.slots().begin(), before.slots().end()}, Bytes{cost}};
        const Problem problem = Problem(graph, allocation, 1, 2).with_migration(migration);
        const Placement placement = place(problem, "auto(effort=fast)").placement;
        CHECK(problem.value(placement.slots()) <= problem.value(before.slots()));
        CHECK(problem.value(placement.slots()) <= value_by(problem, "multisection+swap"));
        CHECK(problem.value(placement.slots()) <= value_by(problem, "previous+resettle"));
        if (cost == 100000) CHECK(std::ranges::equal(placement.slots(), before.slots()));
    }
}

TEST_CASE("migration cost counts even if the optimum for the pattern alone is known") {
    const std::array<GridAxis, 2> square{{{4, true}, {4, true}}};
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = renumber_ranks(stencil(square, StencilShape::star, Bytes{1}), 1);
    Rng rng(5);
    const Placement before = random_placement(allocation, 16, rng);
    const Problem problem =
        Problem(graph, allocation)
            .with_migration({{before.slots().begin(), before.slots().end()}, Bytes{1000}});
    CHECK(std::ranges::equal(place(problem, "auto(effort=fast)").placement.slots(), before.slots()));
}

TEST_CASE("a work budget is respected, and gives the same placement with one and two threads" *
          doctest::test_suite("threads")) {
    Rng rng(6);
    const Machine machine = make_machine("torus:6x6x6");
    const Allocation allocation = fragmented_allocation(machine, 150, 3, 1);
    const CommGraph graph = random_geometric(140, Bytes{100}, 2, 6);
    const CommGraph more = random_geometric(700, Bytes{100}, 2, 6);
    const Placement before = random_placement(allocation, 140, rng);
    const Migration migration{{before.slots().begin(), before.slots().end()}, Bytes{20}};
    for (const std::uint64_t work : {0ULL, 1ULL, 500ULL, 20000ULL, 1000000ULL}) {
        for (const std::string chain : {"auto(effort=fast)", "auto", "auto(effort=best)"}) {
            CAPTURE(work);
            CAPTURE(chain);
            Budget budget;
            budget.work = work;
            const auto same = [&](const Problem& one, const Problem& two) {
                const PlaceResult first = place(one, chain, budget);
                const PlaceResult second = place(two, chain, budget);
                CHECK(std::ranges::equal(first.placement.slots(), second.placement.slots()));
                CHECK(first.work == second.work);
                CHECK(one.value(first.placement.slots()) <= value_by(one, "block"));
                // Searches check the budget between rounds, so they may exceed it a little.
                CHECK(first.work <= 2 * work + 200000);
            };
            same(Problem(graph, allocation, 1, 1), Problem(graph, allocation, 1, 2));
            same(Problem(graph, allocation, 1, 1).with_migration(migration),
                 Problem(graph, allocation, 1, 2).with_migration(migration));
            if (chain != "auto(effort=best)")
                same(Problem(more, allocation, 1, 1, {.imbalance = 0.03}),
                     Problem(more, allocation, 1, 2, {.imbalance = 0.03}));
        }
    }
}

TEST_CASE("auto respects capacities of shared slots and is never worse than block order") {
    Rng rng(7);
    for (const std::string text :
         {"torus:4x4", "tree:4:4,distance=1:10", "mesh:3x3+node:2:2,distance=1:2", "torus:1+node:6"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::size_t ranks = 7 * allocation.slot_count() - 3;
        const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
        const Problem problem(graph, allocation, 2, 2, {.imbalance = 0});
        const PlaceResult result = place(problem, "auto(effort=fast)");
        for (const Slot slot : allocation.slots())
            CHECK(std::ranges::count(result.placement.slots(), slot) <= 7);
        CHECK(problem.value(result.placement.slots()) <= value_by(problem, "block"));
    }
}

TEST_CASE("on few slots with a dense pattern, no exchange of two ranks improves the result of auto") {
    const Machine machine = make_machine("torus:4x3x2");
    const Allocation allocation = Allocation::whole(machine);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Rng rng(seed);
        std::vector<Rank> senders, peers;
        std::vector<Bytes> bytes;
        for (std::uint32_t u = 0; u < 22; ++u) {
            for (std::uint32_t v = 0; v < u; ++v) {
                senders.push_back(Rank{u});
                peers.push_back(Rank{v});
                bytes.push_back(Bytes{1 + rng.below(100)});
            }
        }
        const CommGraph graph = CommGraph::from_edges(22, senders, peers, bytes);
        const Problem problem(graph, allocation, seed, 1);
        const Placement placement = place(problem, "auto(effort=fast)").placement;
        std::vector<Slot> slots(placement.slots().begin(), placement.slots().end());
        const std::int64_t found = problem.value(slots);
        for (std::size_t u = 0; u < slots.size(); ++u) {
            for (std::size_t v = 0; v < u; ++v) {
                std::swap(slots[u], slots[v]);
                CHECK(problem.value(slots) >= found);
                std::swap(slots[u], slots[v]);
            }
        }
    }
}

TEST_CASE(
    "a search that would exceed memory is refused before it starts, but mappers without search still run") {
    const CommGraph graph = alltoall(2000, Bytes{1});
    const Machine machine = make_machine("tree:8:250");
    const Allocation allocation = Allocation::whole(machine);
    const Problem problem(graph, allocation, 1, 1);
    const LimitedMemory limited(300'000'000);
    CHECK_THROWS_WITH_AS(
        place(problem, "auto"),
        "a search for 2000 ranks with 3998000 edges needs about 400 MB of memory; this process "
        "may use 300 MB. Give it more, or use a mapper that does not search, such as block or hilbert",
        Error);
    CHECK(place(problem, "block").placement.rank_count() == 2000);
}
