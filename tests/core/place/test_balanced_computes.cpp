// SPDX-License-Identifier: BSD-3-Clause
// bricks(choose=source) compared with its rule, computed by trying all slots.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/molecular_dynamics.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// Reference: moves every compute by the definition. `present` has a slot for each rank; patches have room.
std::vector<Slot> balance_by_definition(const Problem& problem, std::vector<Slot> present,
                                        std::uint32_t patches) {
    const auto slots = problem.allocation().slots();
    const auto mass = problem.capacity().masses();
    std::vector<std::int64_t> room(problem.machine().slot_count(), -1);
    for (std::size_t i = 0; i < slots.size(); ++i) room[slots[i].value] = problem.capacity().capacities()[i];
    for (std::size_t u = 0; u < present.size(); ++u) room[present[u].value] -= mass[u];
    std::vector<std::uint32_t> computes(problem.rank_count() - patches);
    std::iota(computes.begin(), computes.end(), patches);
    std::ranges::stable_sort(computes, [&](auto u, auto v) { return mass[u] > mass[v]; });
    for (const std::uint32_t u : computes) {
        room[present[u].value] += mass[u];
        const auto sum_at = [&](Slot slot) {
            std::uint32_t sum = 0;
            for (const Rank patch : problem.symmetric().peers(Rank{u}))
                sum += problem.machine().distance(slot, present[patch.value]);
            return sum;
        };
        std::uint32_t brick = std::numeric_limits<std::uint32_t>::max();
        for (const Rank patch : problem.symmetric().peers(Rank{u}))
            brick = std::min(brick, sum_at(present[patch.value]));
        std::optional<Slot> inside;
        std::optional<Slot> outside;
        for (const Slot slot : slots) {
            if (room[slot.value] < mass[u]) continue;
            if (sum_at(slot) <= brick) {
                if (!inside || room[slot.value] > room[inside->value]) inside = slot;
            } else if (!outside || sum_at(slot) < sum_at(*outside)) {
                outside = slot;
            }
        }
        REQUIRE((inside || outside));
        present[u] = inside ? *inside : *outside;
        room[present[u].value] -= mass[u];
    }
    return present;
}

constexpr std::uint32_t patch_count = 36;
const std::vector<std::string> tried_machines{
    "torus:4x4x4",   "mesh:9x6",      "torus:7x2x1x5",           "torus:4x3x2+node:3",
    "torus:10x10x4", "fattree:4:4:4", "tree:4:16,distance=1:10", "torus:3x4+node:2:2,distance=1:2"};

Problem with_present_slots(const Problem& problem, const std::vector<Slot>& present) {
    return problem.with_migration({{present.begin(), present.end()}, Bytes{0}});
}

}  // namespace

TEST_CASE("choose=source moves computes from earlier slots as the paper's rule does") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1);
    for (const std::string& text : tried_machines) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation whole = Allocation::whole(machine);
        const Allocation ragged = fragmented_allocation(machine, machine.node_count() * 3 / 4, 3, 5);
        for (const Allocation* allocation : {&whole, &ragged}) {
            const Problem problem(graph, *allocation, 1, 1, {.imbalance = 0.5});
            const Placement from = place(problem, "bricks(computes=anywhere)").placement;
            const std::vector<Slot> present(from.slots().begin(), from.slots().end());
            const Placement found =
                place(with_present_slots(problem, present), "bricks(choose=source)").placement;
            const auto reference = balance_by_definition(problem, present, patch_count);
            CHECK(std::ranges::equal(found.slots(), reference));
            // Balancing the result again is by the same rule.
            const Placement again =
                place(with_present_slots(problem, reference), "bricks(choose=source)").placement;
            CHECK(std::ranges::equal(again.slots(), balance_by_definition(problem, reference, patch_count)));
        }
    }
}

TEST_CASE("without an earlier placement, choose=source starts computes on their first patch") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1);
    for (const std::string& text : tried_machines) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.8});
        const Placement found = place(problem, "bricks(choose=source)").placement;
        std::vector<Slot> present(found.slots().begin(), found.slots().end());
        const Placement other = place(problem, "bricks").placement;
        for (std::uint32_t u = 0; u < graph.rank_count(); ++u) {
            if (u < patch_count)
                CHECK(present[u] == other[Rank{u}]);
            else
                present[u] = present[problem.symmetric().peers(Rank{u}).front().value];
        }
        CHECK(std::ranges::equal(found.slots(), balance_by_definition(problem, present, patch_count)));
    }
}

TEST_CASE("choose=source ignores proxies") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1);
    const CommGraph copies = molecular_dynamics({4, 3, 3}, 5000, 1, false);
    const Machine machine = make_machine("torus:4x4x4");
    const Allocation allocation = Allocation::whole(machine);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.5});
    const Problem unaware(copies, allocation, 1, 1, {.imbalance = 0.5});
    const Placement aware = place(problem, "bricks(choose=source)").placement;
    const Placement other = place(unaware, "bricks(choose=source)").placement;
    CHECK(std::ranges::equal(aware.slots(), other.slots()));
}

TEST_CASE("choose=source keeps earlier slots of patches, and finds slots for new ranks and lost slots") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1);
    const Machine machine = make_machine("torus:4x4x4");
    const Allocation allocation = fragmented_allocation(machine, 40, 3, 5);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.8});
    std::vector<std::optional<Slot>> from(graph.rank_count());
    for (std::uint32_t u = 0; u < graph.rank_count(); u += 2) from[u] = Slot{u % 64};
    const Problem moved = problem.with_migration({from, Bytes{0}});
    const Placement found = place(moved, "bricks(choose=source)").placement;
    for (std::uint32_t patch = 0; patch < patch_count; patch += 2) {
        if (std::ranges::find(allocation.slots(), Slot{patch}) != allocation.slots().end())
            CHECK(found[Rank{patch}] == Slot{patch});
    }
}

TEST_CASE("choose=source fits computes that find no slot at first") {
    // A patch of load 1, and computes of loads 2 and 3 that share a slot of capacity 3. The heavier one fits
    // only after the lighter one has left.
    const std::vector<Rank> sources{Rank{0}, Rank{0}};
    const std::vector<Rank> peers{Rank{1}, Rank{2}};
    const std::vector<Bytes> bytes(2, Bytes{8});
    const CommGraph graph = CommGraph::from_edges(3, sources, peers, bytes, {}, {1, 2, 3});
    const Machine machine = make_machine("mesh:2");
    const Allocation allocation = Allocation::whole(machine);
    const Problem problem(graph, allocation, 1, 1, {std::nullopt, std::vector<double>{3, 3}});
    const Problem present = problem.with_migration({{Slot{0}, Slot{1}, Slot{1}}, Bytes{0}});
    const Placement found = place(present, "bricks(cells=1,choose=source)").placement;
    CHECK(found[Rank{0}] == Slot{0});
    CHECK(found[Rank{1}] == Slot{0});
    CHECK(found[Rank{2}] == Slot{1});
}

TEST_CASE("choose=source excludes computes=anywhere") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1);
    const Machine machine = make_machine("torus:4x4x4");
    const Allocation allocation = Allocation::whole(machine);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.5});
    CHECK_THROWS_WITH_AS(
        place(problem, "bricks(computes=anywhere,choose=source)"),
        "bricks: choose=source places computes near their patches; leave out computes=anywhere", Error);
}
