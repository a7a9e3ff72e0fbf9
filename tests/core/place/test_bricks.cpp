// SPDX-License-Identifier: BSD-3-Clause
// Placement of patches and computes of molecular dynamics, compared with its definition.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/molecular_dynamics.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// Reference: places computes, heaviest first, by exhaustive search over slots.
void check_against_definition(const Problem& problem, const Placement& placement, std::uint32_t patches) {
    const Allocation& allocation = problem.allocation();
    const Machine& machine = problem.machine();
    const auto mass = problem.capacity().masses();
    std::vector<std::int64_t> room(machine.slot_count(), -1);
    for (std::size_t i = 0; i < allocation.slot_count(); ++i)
        room[allocation.slots()[i].value] = problem.capacity().capacities()[i];
    std::vector<std::uint32_t> computes(problem.rank_count() - patches);
    std::iota(computes.begin(), computes.end(), patches);
    std::ranges::stable_sort(computes, [&](auto u, auto v) { return mass[u] > mass[v]; });
    for (std::uint32_t patch = 0; patch < patches; ++patch) room[placement[Rank{patch}].value] -= mass[patch];
    for (const std::uint32_t u : computes) {
        const auto cost = [&](Slot slot) {
            std::uint32_t sum = 0;
            for (const Rank patch : problem.symmetric().peers(Rank{u}))
                sum += machine.distance(slot, placement[patch]);
            return sum;
        };
        const Slot chosen = placement[Rank{u}];
        REQUIRE(room[chosen.value] >= mass[u]);
        for (const Slot slot : allocation.slots()) {
            if (room[slot.value] < mass[u]) continue;
            REQUIRE(cost(chosen) <= cost(slot));
            if (cost(chosen) == cost(slot)) REQUIRE(room[chosen.value] >= room[slot.value]);
        }
        room[chosen.value] -= mass[u];
    }
}

/// Checks each compute in placement order. On its slot it adds no more bytes times distance than on any slot
/// with a proxy of one of its patches, or in the brick between them.
void check_against_proxies(const Problem& problem, const Placement& placement, std::uint32_t patches) {
    const Allocation& allocation = problem.allocation();
    const Machine& machine = problem.machine();
    const auto mass = problem.capacity().masses();
    std::vector<std::int64_t> room(problem.capacity().capacities().begin(),
                                   problem.capacity().capacities().end());  // slot i has position i
    std::vector<std::set<Slot>> proxies(patches);
    for (std::uint32_t patch = 0; patch < patches; ++patch) {
        room[placement[Rank{patch}].value] -= mass[patch];
        proxies[patch].insert(placement[Rank{patch}]);
    }
    std::vector<std::uint32_t> computes(problem.rank_count() - patches);
    std::iota(computes.begin(), computes.end(), patches);
    std::ranges::stable_sort(computes, [&](auto u, auto v) { return mass[u] > mass[v]; });
    for (const std::uint32_t u : computes) {
        std::int64_t distances = 0;
        const auto added = [&](Slot slot) {
            std::int64_t sum = 0;
            distances = 0;
            for (const Edge edge : problem.symmetric().sends(Rank{u})) {
                const std::int64_t distance = machine.distance(slot, placement[edge.peer]);
                distances += distance;
                if (!proxies[edge.peer.value].contains(slot)) sum += edge.bytes.value * distance;
            }
            return sum;
        };
        const Slot chosen = placement[Rank{u}];
        const std::int64_t least = added(chosen);
        REQUIRE(room[chosen.value] >= mass[u]);
        std::tuple<std::int64_t, std::int64_t> brick{std::numeric_limits<std::int64_t>::max(), 0};
        // The most that the compute adds on any brick slot among those with the most free capacity.
        std::int64_t in_brick = 0;
        for (const Slot slot : allocation.slots()) {
            if (room[slot.value] < mass[u]) continue;
            const std::int64_t here = added(slot);
            bool has_proxy = false;
            for (const Rank patch : problem.symmetric().peers(Rank{u}))
                has_proxy = has_proxy || proxies[patch.value].contains(slot);
            if (has_proxy) REQUIRE(least <= here);
            const std::tuple key{distances, -room[slot.value]};
            if (key < brick) in_brick = here;
            if (key == brick) in_brick = std::max(in_brick, here);
            brick = std::min(brick, key);
        }
        REQUIRE(least <= in_brick);
        room[chosen.value] -= mass[u];
        for (const Rank patch : problem.symmetric().peers(Rank{u})) proxies[patch.value].insert(chosen);
    }
}

/// The length of the shortest part of a ring or row that contains all positions, found by trying every start.
std::uint32_t shortest_arc(const std::vector<std::uint32_t>& at, std::uint32_t extent, bool wraps) {
    std::uint32_t shortest = extent;
    for (std::uint32_t start = 0; start < extent; ++start) {
        std::uint32_t longest = 0;
        bool reached = true;
        for (const std::uint32_t x : at) {
            reached = reached && (wraps || x >= start);
            longest = std::max(longest, (x + extent - start) % extent + 1);
        }
        if (reached) shortest = std::min(shortest, longest);
    }
    return shortest;
}

}  // namespace

TEST_CASE("a compute goes to the least loaded slot with free capacity between its patches, or nearby") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1, false);  // 540 ranks
    for (const std::string text : {"torus:4x4x4", "mesh:9x6", "torus:7x2x1x5", "torus:4x3x2+node:3",
                                   "torus:5x4,nodes=2", "torus:2x30x30", "tree:4:16,distance=1:10",
                                   "torus:3x4+node:2:2,distance=1:2", "fattree:4:4:4", "torus:10x10x10"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation whole = Allocation::whole(machine);
        const Allocation ragged = fragmented_allocation(machine, machine.node_count() * 3 / 4, 3, 5);
        for (const Allocation* allocation : {&whole, &ragged}) {
            const Problem problem(graph, *allocation, 1, 1, {.imbalance = 0.4});
            check_against_definition(problem, place(problem, "bricks").placement, 36);
        }
    }
}

TEST_CASE("with proxies, a compute adds no less on any slot with one of its patches or in the brick") {
    const CommGraph graph = molecular_dynamics({4, 3, 3}, 5000, 1);
    for (const std::string text :
         {"torus:4x4x4", "mesh:9x6", "torus:4x3x2+node:3", "tree:4:16,distance=1:10", "torus:10x10x10"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const double imbalance : {0.4, 3.0}) {
            const Problem problem(graph, allocation, 1, 1, {.imbalance = imbalance});
            check_against_proxies(problem, place(problem, "bricks").placement, 36);
        }
    }
}

TEST_CASE("a placement made for proxies has fewer hop-bytes through proxies than one made without") {
    const CommGraph graph = molecular_dynamics({6, 6, 4}, 92'224, 1);
    const CommGraph copies = molecular_dynamics({6, 6, 4}, 92'224, 1, false);
    for (const std::string text :
         {"torus:8x8x4", "mesh:16x16", "torus:4x4x4+node:2:2", "tree:8:8,distance=1:4", "torus:8x8x8"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.5});
        const Problem unaware(copies, allocation, 1, 1, {.imbalance = 0.5});
        const std::int64_t least = problem.value(place(problem, "bricks").placement.slots());
        CHECK(least < problem.value(place(unaware, "bricks").placement.slots()));
        CHECK(problem.value(place(problem, "auto(effort=fast)").placement.slots()) <= least);
    }
}

TEST_CASE("without distances patches stay in place, and computes send farther") {
    for (const bool proxies : {true, false}) {
        const CommGraph graph = molecular_dynamics({6, 6, 4}, 92'224, 1, proxies);
        for (const std::string text :
             {"torus:8x8x4", "mesh:16x16", "torus:4x4x4+node:2:2", "fattree:8:8:8"}) {
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation allocation = Allocation::whole(machine);
            const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.5});
            const Placement near = place(problem, "bricks").placement;
            const Placement anywhere = place(problem, "bricks(computes=anywhere)").placement;
            for (const Rank patch : ids<Rank>(144)) CHECK(near[patch] == anywhere[patch]);
            CHECK(problem.value(near.slots()) < problem.value(anywhere.slots()));
        }
    }
}

TEST_CASE("a compute of several patches is in the bounding box of its patches") {
    // 4 x 4 x 4 patches. For each patch there is one compute with the next patches along every axis,
    // periodically.
    const std::uint32_t side = 4;
    const std::uint32_t patches = side * side * side;
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    for (std::uint32_t cell = 0; cell < patches; ++cell) {
        for (const std::uint32_t stride : {0U, 1U, side, side * side}) {
            const std::uint32_t block = std::max(1U, stride) * side;
            const std::uint32_t next = cell / block * block + (cell + stride) % block;
            sources.insert(sources.end(), {Rank{next}, Rank{patches + cell}});
            peers.insert(peers.end(), {Rank{patches + cell}, Rank{next}});
        }
    }
    const CommGraph graph = CommGraph::from_edges(2 * std::size_t{patches}, sources, peers,
                                                  std::vector<Bytes>(sources.size(), Bytes{100}));
    for (const std::string text : {"torus:12x12x12", "torus:9x10x11", "mesh:8x8x8", "torus:5x4x4+node:3"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 10.0});
        const Placement placement = place(problem, "bricks(cells=4x4x4)").placement;
        for (std::uint32_t u = patches; u < graph.rank_count(); ++u) {
            const auto at = machine.coordinates(machine.node(placement[Rank{u}]));
            for (std::size_t axis = 0; axis < 3; ++axis) {
                std::vector<std::uint32_t> of_patches;
                for (const Rank patch : graph.peers(Rank{u}))
                    of_patches.push_back(machine.coordinates(machine.node(placement[patch]))[axis]);
                const bool wraps = text[0] == 't';
                const std::uint32_t extent = machine.grid()[axis];
                const std::uint32_t without = shortest_arc(of_patches, extent, wraps);
                of_patches.push_back(at[axis]);
                REQUIRE(shortest_arc(of_patches, extent, wraps) == without);
            }
        }
    }
}

TEST_CASE("with free capacity computes are in the inner brick of their patches") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = molecular_dynamics({4, 4, 4}, 92'224, 1, false);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 10.0});
    const Placement placement = place(problem, "bricks").placement;
    for (std::uint32_t u = 64; u < graph.rank_count(); ++u) {
        const auto peers = problem.symmetric().peers(Rank{u});
        const Slot a = placement[peers.front()];
        const Slot b = placement[peers.back()];
        CHECK(machine.distance(a, placement[Rank{u}]) + machine.distance(placement[Rank{u}], b) ==
              machine.distance(a, b));
    }
}

TEST_CASE("patches have the same relative positions on the machine as in the box") {
    const Machine machine = make_machine("torus:8x16x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = molecular_dynamics({4, 8, 2}, 64 * 1000, 1);
    // Patches have equal loads, so that all cuts are in the middle.
    const CommGraph even = CommGraph::from_csr(graph.first(), graph.all_peers(), graph.all_bytes());
    const Problem problem(even, allocation, 1, 1, {.imbalance = 1.0});
    const Placement placement = place(problem, "bricks(cells=4x8x2)").placement;
    for (std::uint32_t cell = 0; cell < 64; ++cell) {
        const auto at = machine.coordinates(machine.node(placement[Rank{cell}]));
        CHECK(at[0] / 2 == cell / 16);
        CHECK(at[1] / 2 == cell / 2 % 8);
        CHECK(at[2] / 2 == cell % 2);
    }
}

TEST_CASE("along each axis, touching patches are no farther apart than the extents of the machine require") {
    const Extents cells{12, 12, 8};
    const CommGraph graph = molecular_dynamics({12, 12, 8}, 92'224, 1);
    struct PatchDistances {
        std::string text;
        std::vector<std::uint32_t> most;  // most hops along each axis
    };
    for (const auto& [text, most] : std::vector<PatchDistances>{
             {"torus:8x8x8", {1, 1, 1}}, {"torus:8x8x16", {1, 1, 2}}, {"torus:8x32x16", {1, 4, 2}}}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.5});
        const Placement placement = place(problem, "bricks").placement;
        const auto grid = machine.grid();
        for (std::uint32_t u = 1152; u < graph.rank_count(); ++u) {
            const auto peers = problem.symmetric().peers(Rank{u});
            const auto a = machine.coordinates(machine.node(placement[peers.front()]));
            const auto b = machine.coordinates(machine.node(placement[peers.back()]));
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const std::uint32_t apart = std::max(a[axis], b[axis]) - std::min(a[axis], b[axis]);
                REQUIRE(std::min(apart, grid[axis] - apart) <= most[axis]);
            }
        }
    }
}

TEST_CASE("long axes are also cut in the middle") {
    const Machine machine = make_machine("torus:256x2");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = molecular_dynamics({128, 1, 1}, 128 * 300, 1);
    const Problem problem(graph, allocation, 1, 1);
    const Placement placement = place(problem, "bricks(cells=128x1x1)").placement;
    for (std::uint32_t cell = 0; cell < 128; ++cell)
        CHECK(machine.coordinates(machine.node(placement[Rank{cell}]))[0] / 2 == cell);
}

TEST_CASE("computes go to any slot with capacity when the budget is exhausted") {
    const Machine machine = make_machine("torus:4x4x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = molecular_dynamics({4, 4, 4}, 9000, 1);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.3});
    const PlaceResult result = place(problem, "bricks", {.work = 100});
    CHECK(result.exhausted);
    std::vector<std::int64_t> room(problem.capacity().capacities().begin(),
                                   problem.capacity().capacities().end());
    for (const Rank u : ids<Rank>(graph.rank_count()))
        room[result.placement[u].value] -= problem.capacity().masses()[u.value];
    CHECK(std::ranges::min(room) >= 0);
}

TEST_CASE("cells are recognized, and auto is at least as good as bricks") {
    const Machine machine = make_machine("torus:6x5x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = molecular_dynamics({5, 4, 4}, 9000, 2);
    for (const double imbalance : {0.5, 2.0}) {
        const Problem problem(graph, allocation, 1, 1, {.imbalance = imbalance});
        const auto value = [&](const char* chain) {
            return problem.value(place(problem, chain).placement.slots());
        };
        CHECK(value("bricks") <= value("bricks(cells=5x4x4)") * 11 / 10);
        CHECK(value("auto") <= value("bricks"));
        CHECK(value("auto(effort=fast)") <= value("bricks"));
    }
}

TEST_CASE("a pattern without patches and computes, or one that does not fit, is refused") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<GridAxis> grid{{4}, {4}};
    const CommGraph halo = stencil(grid, StencilShape::star, Bytes{8});
    const Problem without(halo, allocation);
    CHECK_THROWS_WITH_AS((void)place(without, "bricks"),
                         "bricks: no patches and computes are recognized; say which ranks are patches, as in "
                         "bricks(cells=6x6x4)",
                         Error);
    CHECK_THROWS_WITH_AS(
        (void)place(without, "bricks(cells=2x2)"),
        "bricks: rank 0 is not a patch: with cells of 2x2 the first 4 ranks must not exchange "
        "messages, and every further rank only with some of them",
        Error);
    CHECK_THROWS_WITH_AS(
        (void)place(without, "bricks(cells=4x4x4)"),
        "bricks: cells of 4x4x4 leave none of the 16 ranks for computes; patches come first, "
        "computes follow",
        Error);
    const CommGraph graph = molecular_dynamics({3, 3, 3}, 900, 1);
    const Problem tight(graph, allocation, 1, 1, {.imbalance = 0.0});
    CHECK_THROWS_AS((void)place(tight, "bricks"), Error);
}
