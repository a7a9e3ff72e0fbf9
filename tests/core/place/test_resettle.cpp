// SPDX-License-Identifier: BSD-3-Clause
// Placements that start from an earlier one: ranks that stay, ranks that move, and migration cost.
#include <doctest.h>

#include <algorithm>
#include <set>

#include "../machine/machine_texts.hpp"
#include "../metric/random_problem.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/local/resettle.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// Machines with symmetric distances.
const std::vector<std::string>& resettled_machines() {
    static const std::vector<std::string> all{"torus:4x4x4",
                                              "mesh:9x7",
                                              "tree:4:4:2,distance=1:10:100",
                                              "torus:3x4+node:3:2,distance=1:2:5",
                                              "torus:3x4+node:3:2,distance=1:2:5,port=0:6",
                                              random_graph(30, 5, 1)};
    return all;
}

std::vector<Slot> slots_of(const Allocation& allocation) {
    return {allocation.slots().begin(), allocation.slots().end()};
}

/// Some slots of the machine in random order.
Allocation some_slots(const Machine& machine, std::size_t percent, std::uint64_t seed) {
    std::vector<Slot> slots = slots_of(Allocation::whole(machine));
    Rng(seed).shuffle(std::span<Slot>(slots));
    slots.resize(std::max<std::size_t>(1, slots.size() * percent / 100));
    return Allocation::of_slots(machine, std::move(slots));
}

/// Ranks on random slots of the whole machine; some ranks are new.
Migration random_earlier_placement(const Machine& machine, std::size_t ranks, std::int64_t cost, Rng& rng) {
    std::vector<Slot> slots = slots_of(Allocation::whole(machine));
    rng.shuffle(std::span<Slot>(slots));
    Migration migration{{slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(ranks)}, Bytes{cost}};
    for (auto& from : migration.from) {
        if (rng.below(6) == 0) from.reset();
    }
    return migration;
}

/// Whether no exchange of two communicating ranks and no move to a free slot lowers the value.
bool is_local_optimum(const Problem& problem, const Placement& placement) {
    std::vector<Slot> slots(placement.slots().begin(), placement.slots().end());
    const std::int64_t value = problem.value(slots);
    for (std::size_t u = 0; u < slots.size(); ++u) {
        for (const Rank v : problem.symmetric().peers(Rank{static_cast<std::uint32_t>(u)})) {
            std::swap(slots[u], slots[v.value]);
            if (problem.value(slots) < value) return false;
            std::swap(slots[u], slots[v.value]);
        }
        const Slot mine = slots[u];
        for (const Slot slot : problem.allocation().slots()) {
            if (std::ranges::find(placement.slots(), slot) != placement.slots().end()) continue;
            slots[u] = slot;
            if (problem.value(slots) < value) return false;
        }
        slots[u] = mine;
    }
    return true;
}

}  // namespace

TEST_CASE("ranks stay if their slots are still allocated, and other ranks get free slots") {
    Rng rng(2);
    for (const std::string& text : resettled_machines()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = some_slots(machine, 80, 3);
        const std::set<Slot> there(allocation.slots().begin(), allocation.slots().end());
        const CommGraph graph = random_pattern(allocation.slot_count() - 2, 150, rng);
        const Migration migration = random_earlier_placement(machine, graph.rank_count(), 10, rng);
        const Placement placement =
            place(Problem(graph, allocation).with_migration(migration), "previous").placement;
        for (std::size_t u = 0; u < graph.rank_count(); ++u) {
            if (migration.from[u] && there.contains(*migration.from[u]))
                CHECK(placement.slots()[u] == *migration.from[u]);
        }
        const std::set<Slot> used(placement.slots().begin(), placement.slots().end());
        CHECK(used.size() == graph.rank_count());
    }
}

TEST_CASE("a rank without its former slot gets the free slot nearest to its partners") {
    const Machine machine = make_machine("mesh:8");
    const Allocation allocation(machine, {Node{0}, Node{1}, Node{3}, Node{4}, Node{7}});
    const CommGraph graph = CommGraph::from_edges(
        3, std::vector{Rank{0}, Rank{1}}, std::vector{Rank{2}, Rank{2}}, std::vector{Bytes{1}, Bytes{5}});
    const Migration migration{{Slot{0}, Slot{4}, Slot{5}}, Bytes{1}};  // slot 5 is no longer allocated
    const Placement placement =
        place(Problem(graph, allocation).with_migration(migration), "previous").placement;
    CHECK(std::ranges::equal(placement.slots(), std::vector{Slot{0}, Slot{4}, Slot{3}}));
}

TEST_CASE("if several ranks were on the same slot, the first one keeps it") {
    const Machine machine = make_machine("mesh:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = ring(3, Bytes{1});
    const Migration migration{{Slot{2}, Slot{2}, Slot{2}}, Bytes{1}};
    const Placement placement =
        place(Problem(graph, allocation).with_migration(migration), "previous").placement;
    CHECK(placement[Rank{0}] == Slot{2});
    CHECK(placement.rank_count() == 3);
}

TEST_CASE("ranks that share slots stay as long as the capacity suffices") {
    const Machine machine = make_machine("torus:4");
    const Allocation allocation(machine, {Node{0}, Node{1}, Node{3}});
    const CommGraph graph = ring(8, Bytes{1});
    Migration migration{{}, Bytes{1}};
    for (const std::uint32_t slot : {0U, 0U, 0U, 0U, 1U, 2U, 2U, 3U}) migration.from.emplace_back(Slot{slot});
    const Problem problem = Problem(graph, allocation, 1, 1, {.imbalance = 0}).with_migration(migration);
    const Placement placement = place(problem, "previous").placement;  // a slot has capacity for three ranks
    for (const std::uint32_t u : {0U, 1U, 2U, 4U, 7U}) CHECK(placement[Rank{u}] == *migration.from[u]);
    for (const Slot slot : allocation.slots()) CHECK(std::ranges::count(placement.slots(), slot) <= 3);
}

TEST_CASE("no rank moves if migration costs more than all messages") {
    Rng rng(5);
    for (const std::string& text : resettled_machines()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = random_pattern(allocation.slot_count() - 3, 200, rng);
        Migration migration = random_earlier_placement(machine, graph.rank_count(), 1LL << 40, rng);
        for (auto& from : migration.from) {  // gives every rank a different earlier slot of the allocation
            while (!from || std::ranges::count(migration.from, from) > 1)
                from = Slot{rng.below(static_cast<std::uint32_t>(machine.slot_count()))};
        }
        const Problem problem = Problem(graph, allocation).with_migration(migration);
        for (const std::string chain : {"previous+resettle", "auto(effort=fast)"}) {
            CAPTURE(chain);
            const Placement placement = place(problem, chain).placement;
            // Moves between slots at distance 0 cost nothing.
            CHECK(migration_cost(migration, machine, placement.slots()) == 0);
        }
    }
}

TEST_CASE(
    "after resettle, no exchange of partners and no move is an improvement, with migration cost included") {
    Rng rng(6);
    for (const std::string& text : resettled_machines()) {
        for (const std::int64_t cost : {0, 20000}) {
            CAPTURE(text);
            CAPTURE(cost);
            const Machine machine = make_machine(text);
            const Allocation allocation = some_slots(machine, 90, 7);
            const CommGraph graph = random_pattern(allocation.slot_count() * 4 / 5, 120, rng);
            const Migration migration = random_earlier_placement(machine, graph.rank_count(), cost, rng);
            const Problem problem = Problem(graph, allocation).with_migration(migration);
            const Placement start = place(problem, "previous").placement;
            const Placement better = place(problem, "previous+resettle").placement;
            CHECK(problem.value(better.slots()) <= problem.value(start.slots()));
            CHECK(is_local_optimum(problem, better));
        }
    }
}

TEST_CASE("resettle never increases hop-bytes plus migration, for any machine, start and budget") {
    Rng rng(9);
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = some_slots(machine, 75, 1);
        const CommGraph graph = random_pattern(allocation.slot_count(), 100, rng);
        for (const std::int64_t cost : {0, 1000, 1000000}) {
            const Problem problem =
                Problem(graph, allocation, 4, 1)
                    .with_migration(random_earlier_placement(machine, graph.rank_count(), cost, rng));
            for (const std::string start : {"previous", "random"}) {
                for (const std::uint64_t work : {1ULL, 100ULL, ~0ULL}) {
                    Budget budget;
                    budget.work = work;
                    const PlaceResult result = place(problem, start + "+resettle", budget);
                    CHECK(problem.value(result.placement.slots()) <=
                          problem.value(place(problem, start, budget).placement.slots()));
                }
            }
        }
    }
}

TEST_CASE("resettle on a ring of one-way links terminates from every start") {
    Rng rng(12);
    const Machine machine = make_machine("graph:7:0>1,1>2,2>3,3>4,4>5,5>6,6>0");
    const Allocation allocation = Allocation::whole(machine);
    for (std::size_t ranks = 2; ranks <= 7; ++ranks) {
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const CommGraph graph = random_pattern(ranks, 2 * ranks, rng);
            const Problem problem = Problem(graph, allocation, seed, 1)
                                        .with_migration(random_earlier_placement(machine, ranks, 50000, rng));
            Budget budget;
            budget.work = 1'000'000;
            CHECK_FALSE(place(problem, "random+resettle", budget).exhausted);
        }
    }
}

TEST_CASE("an earlier placement that does not fit the problem is refused") {
    const Machine machine = make_machine("torus:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = ring(3, Bytes{1});
    const Problem problem(graph, allocation);
    CHECK_THROWS_WITH_AS((void)problem.with_migration({{Slot{0}, Slot{1}}, Bytes{1}}),
                         "the earlier placement has 2 ranks, but the pattern has 3", Error);
    CHECK_THROWS_WITH_AS((void)problem.with_migration({{Slot{0}, Slot{4}, Slot{1}}, Bytes{1}}),
                         "the earlier placement uses slot 4, but the machine has only 4 slots", Error);
    CHECK_THROWS_WITH_AS(
        (void)problem.with_migration({{Slot{0}, Slot{1}, Slot{2}}, Bytes{-1}}),
        doctest::Contains("the migration cost is -1 bytes per rank; it must not be negative"), Error);
    CHECK_THROWS_AS((void)problem.with_migration({{Slot{0}, Slot{1}, Slot{2}}, Bytes{1LL << 62}}), Error);
    CHECK_THROWS_WITH_AS((void)place(problem, "previous"),
                         "mapper 'previous' needs an earlier placement to start from", Error);
    CHECK_THROWS_AS((void)migration_cost({{Slot{0}}, Bytes{1}}, machine, std::vector{Slot{0}, Slot{1}}),
                    Error);
}
