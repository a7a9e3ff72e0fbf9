// SPDX-License-Identifier: BSD-3-Clause
// More ranks than slots: capacities hold, results do not depend on the number of threads, and improvers never
// make a placement worse.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

void check_capacities(const Problem& problem, const Placement& placement) {
    const auto masses = problem.capacity().masses();
    std::vector<std::int64_t> free_capacity(problem.machine().slot_count(), -1);
    for (std::size_t i = 0; i < problem.allocation().slot_count(); ++i)
        free_capacity[problem.allocation().slots()[i].value] = problem.capacity().capacities()[i];
    for (const Rank u : ids<Rank>(problem.rank_count())) free_capacity[placement[u].value] -= masses[u.value];
    for (const Slot slot : problem.allocation().slots()) CHECK(free_capacity[slot.value] >= 0);
}

const std::vector<std::string> sharing_chains{"multisection",
                                              "multisection(family=1,cuts=0)",
                                              "multisection(family=4,islands=3)",
                                              "block+refine(cycles=3)",
                                              "multisection+refine(family=2,cycles=4)",
                                              "auto(effort=fast)",
                                              "auto",
                                              "auto(effort=best)"};

}  // namespace

TEST_CASE("shared slots never exceed their capacity") {
    for (const std::string text : {"tree:4:8,distance=1:10", "torus:3x4", "mesh:5+node:4,distance=1"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = random_geometric(600, Bytes{100}, 3, 5);
        Sharing uneven;
        for (std::size_t i = 0; i < allocation.slot_count(); ++i)
            uneven.capacity.push_back(600.0 / static_cast<double>(allocation.slot_count()) + 1 +
                                      (i % 2 == 0 ? 9 : -9));
        uneven.capacity.front() += 20;
        for (const Sharing& sharing : {Sharing{.imbalance = 0.0}, Sharing{.imbalance = 0.1}, uneven}) {
            const Problem problem(graph, allocation, 7, 1, sharing);
            for (const std::string& chain : sharing_chains) {
                CAPTURE(chain);
                check_capacities(problem, place(problem, chain).placement);
            }
        }
    }
}

TEST_CASE("ranks of different loads can share slots") {
    const Machine machine = make_machine("tree:4:4,distance=1:10");
    const Allocation allocation = Allocation::whole(machine);
    std::vector<double> load;
    for (int u = 0; u < 400; ++u) load.push_back(1 + u % 5);
    const CommGraph equal = random_geometric(400, Bytes{10}, 1, 5);
    const CommGraph graph = CommGraph::from_rows(
        400,
        [&](Rank u, const auto& add) {
            for (const Edge edge : equal.sends(u)) add(edge);
        },
        load);
    const Problem problem(graph, allocation, 3, 1, {.imbalance = 0.05});
    for (const std::string& chain : sharing_chains) {
        CAPTURE(chain);
        check_capacities(problem, place(problem, chain).placement);
    }
}

TEST_CASE("placements on shared slots do not depend on the number of threads" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("tree:4:6,distance=1:10");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(3000, Bytes{10}, 2, 6);
    for (const std::string& chain : sharing_chains) {
        CAPTURE(chain);
        const PlaceResult one = place(Problem(graph, allocation, 5, 1, {.imbalance = 0.03}), chain);
        const PlaceResult three = place(Problem(graph, allocation, 5, 3, {.imbalance = 0.03}), chain);
        CHECK(std::ranges::equal(one.placement.slots(), three.placement.slots()));
        CHECK(one.work == three.work);
    }
}

TEST_CASE("refine never returns a placement worse than its start, and stops when its budget ends") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(800, Bytes{10}, 4, 6);
    const Problem problem(graph, allocation, 5, 1, {.imbalance = 0.03});
    const auto value = [&](const std::string& chain, std::uint64_t work) {
        const Budget budget{.work = work};
        const Placement placement = place(problem, chain, budget).placement;
        check_capacities(problem, placement);
        return hop_bytes(graph, machine, placement.slots());
    };
    constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
    for (const std::string start : {"block", "multisection", "auto(effort=fast)"}) {
        CHECK(value(start + "+refine(cycles=2)", unlimited) <= value(start, unlimited));
        CHECK(value(start + "+refine(cycles=2)", 100) <= value(start, 100));
    }
}

TEST_CASE("a grid on shared slots is divided into squares") {
    const Machine machine = make_machine("tree:4,distance=1");
    const Allocation allocation = Allocation::whole(machine);
    const std::array<GridAxis, 2> axes{{{16, false}, {16, false}}};
    const CommGraph graph = stencil(axes, StencilShape::star, Bytes{1});
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.0});
    CHECK(hop_bytes(graph, machine, place(problem, "auto").placement.slots()) == 64);
}

TEST_CASE(
    "three equally distant groups of slots get equal shares of ranks, whatever attracts ranks elsewhere") {
    // Both axes are cut; every ring of three is then divided at once while other parts of the torus attract
    // its ranks.
    const Machine machine = make_machine("torus:3x4");
    const Allocation allocation = Allocation::whole(machine);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const CommGraph graph = random_geometric(1000, Bytes{10}, seed, 6);
        const Problem problem(graph, allocation, seed, 1, {.imbalance = 0.03});
        const auto value = [&](const std::string& chain) {
            return hop_bytes(graph, machine, place(problem, chain).placement.slots());
        };
        CHECK(20 * value("multisection") < value("block"));
    }
}

TEST_CASE("stars and isolated ranks can share slots") {
    const Machine machine = make_machine("tree:4:4,distance=1:10");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph star = CommGraph::from_rows(2000, [](Rank u, const auto& add) {
        if (u.value > 0) add(Edge{Rank{0}, Bytes{1}, 1});
    });
    const CommGraph silent = CommGraph::from_rows(500, [](Rank, const auto&) {});
    for (const CommGraph* graph : {&star, &silent}) {
        const Problem problem(*graph, allocation, 1, 1, {.imbalance = 0.0});
        for (const std::string& chain : sharing_chains) {
            CAPTURE(chain);
            check_capacities(problem, place(problem, chain).placement);
        }
    }
}

TEST_CASE("alltoall with more peers than a search examines is divided into its tightly coupled groups") {
    constexpr std::uint32_t ranks = 320;
    const Machine machine = make_machine("tree:4:4,distance=1:10");
    const Allocation allocation = Allocation::whole(machine);
    const auto clique = [](std::int64_t within) {
        return CommGraph::from_rows(ranks, [=](Rank u, const auto& add) {
            for (const Rank v : ids<Rank>(ranks)) {
                if (u != v) add(Edge{v, Bytes{u.value % 16 == v.value % 16 ? within : 1}, 1});
            }
        });
    };
    const CommGraph graph = clique(50);
    for (const std::string chain : {"auto(effort=fast)", "auto", "auto(effort=best)"}) {
        CAPTURE(chain);
        const Problem problem(graph, allocation, 1, 1, Sharing{.imbalance = 0});
        const PlaceResult result = place(problem, chain);
        check_capacities(problem, result.placement);
        for (const Rank u : ids<Rank>(ranks))
            CHECK(result.placement[u] == result.placement[Rank{u.value % 16}]);
    }
    const CommGraph even = clique(1);  // all assignments to the slots are equally good
    const Problem problem(even, allocation, 1, 1, Sharing{.imbalance = 0});
    const std::int64_t expected = 320LL * 20 * (3 * 1 + 12 * 10);
    CHECK(problem.value(place(problem, "block+refine").placement.slots()) == expected);
}

TEST_CASE("more ranks than slots are refused unless sharing is allowed") {
    const Machine machine = make_machine("torus:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(20, Bytes{10}, 1, 4);
    CHECK_THROWS_WITH_AS(Problem(graph, allocation),
                         doctest::Contains("let ranks share slots with an imbalance"), Error);
}
