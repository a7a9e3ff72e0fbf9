// SPDX-License-Identifier: BSD-3-Clause
// Improvers for congestion: guarantees, and cases with a known optimum.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "metric/congestion_key.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

CongestionKey key_of(const Problem& problem, const Placement& placement) {
    return congestion_key(problem.graph(), problem.machine(), placement.slots());
}

/// Whether moving or exchanging a rank with a message on a busiest link is an improvement.
bool can_improve(const Problem& problem, const Placement& placement) {
    const CongestionKey before = key_of(problem, placement);
    const std::vector<Slot> slots(placement.slots().begin(), placement.slots().end());
    LinkLoads loads(problem.machine(), problem.graph(), slots);
    for (const Rank u : ids<Rank>(slots.size())) {
        if (!loads.is_on_busiest_link(u)) continue;
        for (const Slot to : problem.allocation().slots()) {
            std::vector<Slot> other = slots;
            const auto there = std::ranges::find(other, to);
            if (there != other.end()) *there = other[u.value];
            other[u.value] = to;
            if (congestion_key(problem.graph(), problem.machine(), other) < before) return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("messages that share a link are moved to separate links") {
    // On a line of four nodes 0 -> 2 and 1 -> 3 share the middle link.
    const Machine machine = make_machine("mesh:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = CommGraph::from_edges(
        4, std::array{Rank{0}, Rank{1}}, std::array{Rank{2}, Rank{3}}, std::array{Bytes{10}, Bytes{10}});
    const Problem problem(graph, allocation);
    CHECK(key_of(problem, place(problem, "block").placement) == CongestionKey{20, 1, 40});
    for (const std::string mapper : {"block+local-opt", "block+congestion"}) {
        CAPTURE(mapper);
        CHECK(key_of(problem, place(problem, mapper).placement) == CongestionKey{10, 2, 20});
    }
}

TEST_CASE(
    "after local-opt no exchange or move of a rank with a message on a busiest link is an improvement") {
    for (const std::string text :
         {"torus:4x4x2", "fattree:4:4,up=1:2,routing=random", "dragonfly:3x4,global=2,routing=valiant",
          "torus:5x4,ties=split+down:0-1,6>7,v13", "mesh:3x3+node:2:2", "torus:3x4+node:2:2,distance=1:5",
          "mesh:3x3+node:4,distance=2,port=0:3"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::size_t ranks = machine.node_count() * (1 + machine.slots_per_node()) / 2 - 2;
        const CommGraph graph = random_geometric(ranks, Bytes{100}, 1, 3);
        const Problem problem(graph, allocation);
        CHECK_FALSE(can_improve(problem, place(problem, "random+local-opt").placement));
    }
}

TEST_CASE(
    "congestion is never worse than local-opt from the same start, and the same each time under a budget") {
    const Machine machine = make_machine("torus:6x6x6");
    const Allocation allocation = fragmented_allocation(machine, 50, 3, 1);
    const CommGraph graph = random_geometric(45, Bytes{100}, 2, 5);
    const Problem problem(graph, allocation);
    const CongestionKey local = key_of(problem, place(problem, "mahd+local-opt").placement);
    CHECK(key_of(problem, place(problem, "mahd+congestion(sweeps=20)").placement) <= local);
    Budget budget;
    budget.work = 3000;
    const PlaceResult one = place(problem, "mahd+congestion", budget);
    const PlaceResult two = place(problem, "mahd+congestion", budget);
    CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
    CHECK(key_of(problem, one.placement) <= key_of(problem, place(problem, "mahd").placement));
}
