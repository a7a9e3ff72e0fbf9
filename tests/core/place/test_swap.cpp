// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of pairs end in a local optimum, whose value equals its definition.
#include <doctest.h>

#include <string>
#include <utility>

#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/mapper.hpp"

#include "pattern/collectives.hpp"

using namespace topoloom;

namespace {

std::int64_t value(const CommGraph& graph, const Machine& machine, const std::vector<Slot>& slots) {
    return hop_bytes(graph, machine, slots);
}

}  // namespace

TEST_CASE("after swap no exchange of two communicating ranks and no move to a free slot is an improvement") {
    for (const std::string text :
         {"torus:4x4x4", "mesh:9x7", "tree:4:4:4,distance=1:10:100", "torus:3x3+node:3:2,distance=1:2:5",
          "torus:3x3+node:3:2,distance=1:2:5,port=0:4"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = random_geometric(allocation.slot_count() - 6, Bytes{100}, 3, 4);
        const CommGraph partners = graph.symmetric();
        const PlaceResult result = place(Problem(graph, allocation, 5), "random+swap(reach=1)");
        std::vector<Slot> slots(result.placement.slots().begin(), result.placement.slots().end());
        const std::int64_t reached = value(graph, machine, slots);
        std::vector<char> used(machine.slot_count(), false);
        for (const Slot slot : slots) used[slot.value] = true;
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Rank v : partners.peers(u)) {
                std::swap(slots[u.value], slots[v.value]);
                CHECK(value(graph, machine, slots) >= reached);
                std::swap(slots[u.value], slots[v.value]);
            }
            for (const Slot free : allocation.slots()) {
                if (used[free.value]) continue;
                const Slot home = std::exchange(slots[u.value], free);
                CHECK(value(graph, machine, slots) >= reached);
                slots[u.value] = home;
            }
        }
    }
}

TEST_CASE("searches by gain terminate with asymmetric distances, also without a table of distances") {
    // There are more slots than a table of distances supports.
    constexpr std::uint32_t nodes = 2060;
    std::string text = "graph:" + std::to_string(nodes) + ":";
    for (std::uint32_t v = 0; v < nodes; ++v) {
        if (v > 0) text += ',';
        text += std::to_string(v) + '>' + std::to_string((v + 1) % nodes);
        for (const std::uint32_t step : {37U, 390U})
            text += ',' + std::to_string(v) + '>' + std::to_string((v + step) % nodes);
    }
    const Machine machine = make_machine(text);
    const Allocation allocation = Allocation::whole(machine);
    for (const std::size_t ranks : {nodes, nodes - 40U}) {
        const CommGraph graph = random_geometric(ranks, Bytes{100}, 3, 4);
        const Problem problem(graph, allocation, 5, 1);
        Budget budget;
        budget.work = 100'000'000;
        CHECK_FALSE(place(problem, "random+swap(reach=1)", budget).exhausted);
    }
}

TEST_CASE("swap restores a ring in which the ranks of each pair were exchanged") {
    const Machine machine = make_machine("torus:16");
    const Allocation allocation = Allocation::whole(machine);
    // Ranks 2i and 2i+1 are on each other's slots: One exchange per pair repairs the ring.
    const CommGraph graph = CommGraph::from_rows(
        16, [](Rank u, const auto& add) { add(Edge{Rank{((u.value ^ 1U) + 1) % 16 ^ 1U}, Bytes{10}, 1}); });
    const PlaceResult result = place(Problem(graph, allocation), "block+swap");
    CHECK(hop_bytes(graph, machine, result.placement.slots()) == 16 * 10);
}

TEST_CASE("swap never increases hop-bytes on routes that differ by direction") {
    const Machine machine = make_machine("graph:5:0>1,1>2,2>3,3>4,4>0,0-2,route=1>2>3>4>0");
    const Allocation allocation = Allocation::whole(machine);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const CommGraph graph = bruck(5, Bytes{3});
        const Problem problem(graph, allocation, seed);
        const std::int64_t before = hop_bytes(graph, machine, place(problem, "random").placement.slots());
        CHECK(hop_bytes(graph, machine, place(problem, "random+swap").placement.slots()) <= before);
    }
}

TEST_CASE("a search on a ring of one-way links terminates from every start") {
    for (const std::string text : {"graph:5:0>1,1>2,2>3,3>4,4>0", "graph:7:0>1,1>2,2>3,3>4,4>5,5>6,6>0"}) {
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (std::size_t ranks = 2; ranks <= machine.slot_count(); ++ranks) {
            for (const CommGraph& graph : {ring(ranks, Bytes{1000}), bruck(ranks, Bytes{64})}) {
                for (std::uint64_t seed = 0; seed < 50; ++seed) {
                    Budget budget;
                    budget.work = 1'000'000;
                    CHECK_FALSE(place(Problem(graph, allocation, seed), "random+swap", budget).exhausted);
                }
            }
        }
    }
}
