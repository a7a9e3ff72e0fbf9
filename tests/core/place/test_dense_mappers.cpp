// SPDX-License-Identifier: BSD-3-Clause
// The mappers grasp, hybrid and tabu: valid for uneven sizes, and independent of the number of threads.
#include <doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/dense_qap.hpp"

using namespace topoloom;

namespace {

std::int64_t value(const Problem& problem, const Placement& placement) {
    return hop_bytes(problem.graph(), problem.machine(), placement.slots(), 1);
}

}  // namespace

TEST_CASE(
    "the value of the dense problem equals that of the placement, also with free slots and node levels") {
    for (const char* text : {"torus:4x5", "torus:3x3+node:4,port=0:2",
                             "tree:3:2,distance=5:9+node:4,distance=1", "torus:3x3+node:2:2"}) {
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = random_geometric(allocation.slot_count() - 3, Bytes{7}, 2, 5);
        const Problem problem(graph, allocation, 1, 1);
        const Placement placement = place(problem, "random").placement;
        const MovablePart part(problem);
        const qap::Qap qap = dense_qap(part);
        const qap::Permutation p = assignment_of(part, placement);
        CHECK_NOTHROW(qap::require_permutation(p, allocation.slot_count()));
        CHECK(qap.value(p) == value(problem, placement));
        CHECK(std::ranges::equal(placement_of(part, p).slots(), placement.slots()));
    }
}

TEST_CASE("a ring and a stencil that fit the torus are placed with one hop per message") {
    const Machine ring_machine = make_machine("torus:12");
    const Allocation on_ring = Allocation::whole(ring_machine);
    const CommGraph graph = ring(12, Bytes{10});
    const Problem problem(graph, on_ring, 3, 1);
    CHECK(value(problem, place(problem, "random+tabu(iterations=20000)").placement) ==
          graph.total_bytes().value);
    CHECK(value(problem, place(problem, "grasp(restarts=50)").placement) == graph.total_bytes().value);
    const Machine torus = make_machine("torus:5x6");
    const Allocation on_torus = Allocation::whole(torus);
    const CommGraph halo =
        stencil(std::vector<GridAxis>{{5, true}, {6, true}}, stencil_shape(2, 5), Bytes{1});
    const Problem grid(halo, on_torus, 1, 1);
    CHECK(value(grid, place(grid, "random+tabu(iterations=100000)").placement) == halo.total_bytes().value);
}

TEST_CASE("under a work budget, threads do not change the placement, and no result is worse than the start" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:6x6x6");
    const Allocation allocation = fragmented_allocation(machine, 90, 3, 1);
    const CommGraph graph = random_geometric(83, Bytes{100}, 2, 6);
    for (const std::string chain : {"grasp", "grasp(dense=0)", "grasp(dense=0,warm=mahd)", "hybrid(part=20)",
                                    "random+tabu", "random+tabu(dense=0)"}) {
        for (const std::uint64_t work :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5000}, std::uint64_t{1} << 40}) {
            CAPTURE(chain);
            CAPTURE(work);
            Budget budget;
            budget.work = work;
            const Problem one(graph, allocation, 1, 1);
            const Problem two(graph, allocation, 1, 2);
            const PlaceResult a = place(one, chain, budget);
            const PlaceResult b = place(two, chain, budget);
            CHECK(std::ranges::equal(a.placement.slots(), b.placement.slots()));
            CHECK(a.work == b.work);
            if (chain.starts_with("random")) {
                CHECK(value(one, a.placement) <= value(one, place(one, "random").placement));
            }
        }
        CHECK(value(Problem(graph, allocation), place(Problem(graph, allocation), chain).placement) <
              value(Problem(graph, allocation), place(Problem(graph, allocation), "random").placement));
    }
}

TEST_CASE("tabu among near ranks improves on local optima of swap, and uses free slots") {
    const Machine machine = make_machine("torus:10x10");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph =
        stencil(std::vector<GridAxis>{{9, false}, {10, false}}, stencil_shape(2, 5), Bytes{1});
    const Problem problem(graph, allocation, 2, 1);
    const std::int64_t local = value(problem, place(problem, "random+swap").placement);
    CHECK(value(problem, place(problem, "random+swap+tabu(dense=0,iterations=5000)").placement) < local);
}

TEST_CASE("tabu includes migration cost, both in the dense search and among near ranks") {
    Rng rng(4);
    for (const char* text : {"torus:4x5", "tree:3:2,distance=5:9+node:4,distance=1", "torus:3x3+node:2:2"}) {
        const Machine machine = make_machine(text);
        const Allocation allocation = fragmented_allocation(machine, machine.node_count() - 1, 2, 1);
        const CommGraph graph = random_geometric(allocation.slot_count() - 3, Bytes{7}, 2, 5);
        std::vector<std::optional<Slot>> from;
        for (std::size_t u = 0; u < graph.rank_count(); ++u)
            from.emplace_back(Slot{rng.below(static_cast<std::uint32_t>(machine.slot_count()))});
        from[1].reset();
        for (const std::int64_t bytes : {0, 3, 20, 1 << 20}) {
            CAPTURE(text);
            CAPTURE(bytes);
            const Problem problem = Problem(graph, allocation, 1, 1).with_migration({from, Bytes{bytes}});
            const Placement start = place(problem, "random").placement;
            const MovablePart part(problem);
            CHECK(dense_qap(part).value(assignment_of(part, start)) == problem.value(start.slots()));
            for (const std::string tabu : {"tabu(dense=0,iterations=500)", "tabu"}) {
                const Placement better = place(problem, "random+" + tabu).placement;
                CHECK(problem.value(better.slots()) < problem.value(start.slots()));
                const Placement home = place(problem, "previous").placement;
                const std::int64_t at_home = problem.value(home.slots());
                CHECK(problem.value(place(problem, "previous+" + tabu).placement.slots()) <= at_home);
            }
        }
    }
}

TEST_CASE("no rank moves if migration costs more than all messages") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = ring(12, Bytes{10});
    std::vector<std::optional<Slot>> from;
    for (std::uint32_t u = 0; u < 12; ++u) from.emplace_back(Slot{(7 * u) % 16});
    const Problem problem = Problem(graph, allocation, 1, 1).with_migration({from, Bytes{1 << 20}});
    const Placement placement = place(problem, "random+tabu(iterations=20000)").placement;
    for (std::uint32_t u = 0; u < 12; ++u) CHECK(placement[Rank{u}] == *from[u]);
}

TEST_CASE("grasp finds the optimum of small problems, and is never worse than emahd on larger ones") {
    const std::vector<std::string> texts{"torus:4x4", "mesh:4x4", "tree:4:4,distance=1:3",
                                         "dragonfly:3x2,nodes=4"};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Machine machine = make_machine(texts[seed % texts.size()]);
        const std::size_t ranks = 5 + rng.below(5);
        const Allocation allocation =
            fragmented_allocation(machine, ranks + rng.below(2), 1 + seed % 3, seed);
        const CommGraph graph = random_geometric(ranks, Bytes{100}, seed, 3);
        const Problem problem(graph, allocation, seed, 1);
        CHECK(value(problem, place(problem, "grasp").placement) ==
              value(problem, place(problem, "exact").placement));
    }
    for (const std::size_t ranks : {20U, 64U, 210U}) {
        const Machine machine = make_machine("torus:6x6x6");
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = random_geometric(ranks, Bytes{100}, 2, 6);
        const Problem problem(graph, allocation, 1, 1);
        CHECK(value(problem, place(problem, "grasp").placement) <=
              value(problem, place(problem, "emahd").placement));
    }
}

TEST_CASE(
    "grasp from a greedy start is never worse than the start, whether it works on matrices or along edges") {
    for (const char* text :
         {"torus:6x6x6", "tree:3:2,distance=5:9+node:4,distance=1", "torus:5x5+node:2:2"}) {
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::size_t ranks = std::min<std::size_t>(allocation.slot_count() - 2, 60);
        const CommGraph graph = random_geometric(ranks, Bytes{100}, 2, 6);
        const Problem problem(graph, allocation, 1, 1);
        for (const std::string warm : {"gge", "mahd", "emahd"}) {
            for (const std::string dense : {"0", "1000"}) {
                CAPTURE(text);
                CAPTURE(warm);
                CAPTURE(dense);
                const std::string chain = "grasp(restarts=1,warm=" + warm + ",dense=" + dense + ")";
                CHECK(value(problem, place(problem, chain).placement) <=
                      value(problem, place(problem, warm).placement));
            }
        }
    }
}

TEST_CASE("grasp along edges returns the best of its starts, also with isolated ranks") {
    const Machine machine = make_machine("torus:8x8");
    const Allocation allocation = Allocation::whole(machine);
    for (const std::size_t ranks : {1U, 2U, 33U, 64U}) {
        const CommGraph graph = ranks > 2    ? random_geometric(ranks, Bytes{100}, 2, 3)
                                : ranks == 2 ? ring(2, Bytes{3})
                                             : CommGraph::from_rows(1, [](Rank, const auto&) {});
        const Problem problem(graph, allocation, 1, 1);
        std::int64_t least = value(problem, place(problem, "grasp(dense=0,restarts=1)").placement);
        for (const std::string restarts : {"2", "5", "20"}) {
            const Placement best =
                place(problem, "grasp(dense=0,alpha=1000,restarts=" + restarts + ")").placement;
            CHECK(best.rank_count() == ranks);
            const std::int64_t found =
                value(problem, place(problem, "grasp(dense=0,restarts=" + restarts + ")").placement);
            CHECK(found <= least);
            least = found;
        }
    }
}

TEST_CASE("hybrid places all ranks for any sizes of its parts") {
    const Machine machine = make_machine("torus:4x4x4");
    for (const std::size_t slots : {1U, 2U, 7U, 33U, 64U}) {
        const Allocation allocation = fragmented_allocation(machine, slots, 1, 4);
        for (const std::size_t ranks : {slots, (slots + 1) / 2}) {
            const CommGraph graph =
                ranks > 1 ? ring(ranks, Bytes{3}) : CommGraph::from_rows(1, [](Rank, const auto&) {});
            for (const char* chain : {"hybrid(part=2)", "hybrid(part=7)", "hybrid(part=16)", "hybrid"}) {
                CHECK(place(Problem(graph, allocation), chain).placement.rank_count() == ranks);
            }
        }
    }
}
