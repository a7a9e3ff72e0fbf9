// SPDX-License-Identifier: BSD-3-Clause
// Every mapper leaves fixed ranks on their slots, and auto finds the best of the placements that do.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "bound/bound_cases.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/local/anneal.hpp"
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/dense_qap.hpp"

using namespace topoloom;

namespace {

const std::vector<std::string> objectives{"hop-bytes", "congestion", "time"};

CommGraph make_stencil(std::uint32_t rows, std::uint32_t columns) {
    return stencil(std::array{GridAxis{rows, false}, GridAxis{columns, false}}, StencilShape::star,
                   Bytes{1000});
}

Allocation draw_slots(const Machine& machine, std::size_t count, Rng& rng) {
    const Allocation whole = Allocation::whole(machine);
    std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
    rng.shuffle(std::span(slots));
    slots.resize(std::min(count, slots.size()));
    return Allocation::of_slots(machine, slots);
}

/// Fixes `count` random ranks to random slots.
FixedRanks draw_fixed_ranks(const Problem& problem, std::size_t count, Rng& rng) {
    std::vector<Rank> ranks = id_list<Rank>(problem.rank_count());
    rng.shuffle(std::span(ranks));
    const auto all = problem.allocation().slots();
    std::vector<Slot> slots(all.begin(), all.end());
    rng.shuffle(std::span(slots));
    std::vector<FixedRank> fixed;
    for (std::size_t i = 0; i < count; ++i) fixed.emplace_back(ranks[i], slots[i]);
    return {problem.rank_count(), fixed};
}

Problem set_objective(const Problem& problem, const std::string& name) {
    return problem.with_objective(parse_objective(name), {}, {});
}

/// All mappers of a kind that can place a grid; for other objectives, only those that do not always minimize
/// hop-bytes.
std::vector<const MapperEntry*> list_mappers(bool constructing, bool is_for_hop_bytes) {
    std::vector<const MapperEntry*> entries;
    for (const MapperEntry& entry : mappers()) {
        if (entry.is_constructor() != constructing || entry.occupancy == Occupancy::shared) continue;
        if (!is_for_hop_bytes && entry.minimizes == SearchObjective::hop_bytes) continue;
        if (entry.needs.starts_with("eight ranks") || entry.needs.starts_with("patches")) continue;
        if (entry.name != "exact") entries.push_back(&entry);
    }
    return entries;
}

/// The mapper with little effort where there is a choice.
std::string make_brief_stage(const MapperEntry& entry) {
    if (entry.name == "auto") return "auto(effort=fast)";
    if (entry.name == "congestion") return "congestion(sweeps=5)";
    if (entry.name == "hybrid") return "hybrid(part=8)";
    if (entry.name == "grasp") return "grasp(restarts=1)";
    return std::string(entry.name);
}

}  // namespace

TEST_CASE(
    "every mapper leaves fixed ranks on their slots, whatever the objective and the number of threads") {
    const CommGraph graph = make_stencil(4, 5);
    for (const char* text :
         {"torus:3x5,bandwidth=1GB/s,latency=1us+node:2", "tree:2:4,bandwidth=10GB/s:2GB/s+node:4"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        Rng rng(7);
        const Allocation allocation = draw_slots(machine, 24, rng);
        std::vector<std::optional<Slot>> from(graph.rank_count());
        for (std::size_t u = 0; u < from.size(); u += 2) from[u] = allocation.slots()[rng.below(24)];
        for (const std::size_t count : {2, 20}) {
            CAPTURE(count);
            const Problem plain(graph, allocation, 5, 1);
            const Problem fixed = plain.with_fixed(draw_fixed_ranks(plain, count, rng));
            for (const std::string& objective : objectives) {
                CAPTURE(objective);
                const Problem problem = set_objective(fixed, objective);
                const auto check = [&](const std::string& chain) {
                    CAPTURE(chain);
                    if (chain == "mht" && !machine.has_grid()) return CongestionKey{};
                    // `previous` needs an earlier placement, which only hop-bytes allow.
                    const bool earlier = chain.starts_with("previous");
                    if (earlier && objective != "hop-bytes")
                        return problem.key(place(problem, "block").placement.slots());
                    const Problem given = earlier ? problem.with_migration({from, Bytes{100}}) : problem;
                    const Placement found = place(given, chain).placement;
                    CHECK(problem.fixed().are_in_place(found.slots()));
                    CHECK(std::set(found.slots().begin(), found.slots().end()).size() == graph.rank_count());
                    CHECK(place(given.with_seed(5, 2), chain).placement == found);
                    return given.key(found.slots());
                };
                const bool is_for_hop_bytes = objective == "hop-bytes";
                for (const MapperEntry* entry : list_mappers(true, is_for_hop_bytes))
                    check(make_brief_stage(*entry));
                const CongestionKey start = check("random");
                for (const MapperEntry* entry : list_mappers(false, is_for_hop_bytes)) {
                    const CongestionKey better = check("random+" + make_brief_stage(*entry));
                    if (!is_for_hop_bytes || entry->minimizes != SearchObjective::links)
                        CHECK(better <= start);
                }
                if (is_for_hop_bytes) {
                    check("grasp(dense=0,restarts=1)");
                    CHECK(check("random+tabu(dense=0,iterations=200)") <= start);
                }
            }
        }
    }
}

TEST_CASE("searches keep fixed ranks themselves: chains need not restore them") {
    const CommGraph graph = make_stencil(4, 5);
    const Machine machine = make_machine("torus:3x5,bandwidth=1GB/s,latency=1us+node:2");
    Rng rng(8);
    const Allocation allocation = draw_slots(machine, 24, rng);
    const std::set<std::string> restored{"box", "fold", "tile", "structure", "hybrid", "previous"};
    for (const std::size_t count : {1, 7, 20}) {
        CAPTURE(count);
        const Problem plain(graph, allocation, 5, 1);
        const Problem fixed = plain.with_fixed(draw_fixed_ranks(plain, count, rng));
        for (const std::string& objective : objectives) {
            CAPTURE(objective);
            const Problem problem = set_objective(fixed, objective);
            Placement start = place(problem, "random").placement;
            Meter meter{Budget{}};
            for (const bool constructs : {true, false}) {
                for (const MapperEntry* entry : list_mappers(constructs, objective == "hop-bytes")) {
                    if (restored.contains(std::string(entry->name))) continue;
                    CAPTURE(entry->name);
                    const OptionValues options =
                        read_named_options("mapper", make_brief_stage(*entry)).options;
                    const Placement found =
                        constructs ? entry->make_constructor(entry->name, options)(problem, meter)
                                   : entry->make_improver(entry->name, options)(problem, start, meter);
                    CHECK(problem.fixed().are_in_place(found.slots()));
                }
            }
        }
    }
}

TEST_CASE("auto finds and proves the best of all placements that leave fixed ranks on their slots") {
    const std::vector<std::string> texts{
        "torus:3x3,bandwidth=1GB/s,latency=1us+node:2,startup=1us",
        "mesh:3x2,bandwidth=1GB/s,latency=20us+node:2", "tree:2:4,bandwidth=10GB/s:2GB/s+node:4,memory=5GB/s",
        "hyperx:3x2,bandwidth=10GB/s,bandwidth.host=2GB/s+node:4,distance=3"};
    for (std::uint32_t number = 0; number < 48; ++number) {
        CAPTURE(number);
        Rng rng(number);
        const Machine machine = make_machine(texts[number % texts.size()]);
        const Allocation allocation = draw_slots(machine, 4 + rng.below(3), rng);
        const std::size_t ranks = allocation.slot_count() - rng.below(3);
        const CommGraph graph = random_pattern(ranks, 3 * ranks, rng);
        const Problem plain(graph, allocation, 1, 1);
        const Problem problem = set_objective(
            plain.with_fixed(draw_fixed_ranks(plain, 1 + rng.below(static_cast<std::uint32_t>(ranks)), rng)),
            objectives[number / 4 % objectives.size()]);
        double least = std::numeric_limits<double>::infinity();
        for_each_placement(allocation, ranks, [&](const Placement& placement) {
            if (problem.fixed().are_in_place(placement.slots()))
                least = std::min(least, problem.objective_value(placement.slots()));
        });
        for (const std::string mapper : {"auto(effort=fast)", "exact"}) {
            if (mapper == "exact" && objectives[number / 4 % objectives.size()] == "time") continue;
            CAPTURE(mapper);
            const PlaceResult found = place(problem, mapper);
            CHECK(problem.objective_value(found.placement.slots()) <= least * (1 + 1e-9));
            REQUIRE(found.proven);
            CHECK(*found.proven == doctest::Approx(least).epsilon(1e-9));
        }
    }
}

TEST_CASE("every mapper for shared slots leaves fixed ranks on their slots, within the capacities") {
    const CommGraph graph = make_stencil(6, 8);
    const Machine machine = make_machine("torus:2x3+node:2");
    const Allocation allocation = Allocation::whole(machine);
    Rng rng(3);
    for (const std::size_t count : {1, 8, 12}) {
        CAPTURE(count);
        const Problem plain(graph, allocation, 2, 1, {.imbalance = 0.25});
        const Problem problem = plain.with_fixed(draw_fixed_ranks(plain, count, rng));
        const auto check = [&](const std::string& chain) {
            CAPTURE(chain);
            if (chain == "previous") return std::int64_t{0};
            const Placement found = place(problem, chain).placement;
            CHECK(problem.fixed().are_in_place(found.slots()));
            std::vector<std::int64_t> left(problem.capacity().capacities().begin(),
                                           problem.capacity().capacities().end());
            for (const Slot slot : found.slots()) --left[slot.value];
            CHECK(std::ranges::min(left) >= 0);
            CHECK(place(problem.with_seed(2, 2), chain).placement == found);
            return problem.value(found.slots());
        };
        for (const MapperEntry& entry : mappers()) {
            if (!entry.is_constructor() || entry.occupancy == Occupancy::alone || entry.name == "exact")
                continue;
            if (!entry.needs.starts_with("patches")) check(std::string(entry.name));
        }
        CHECK(check("random+refine") <= check("random"));
        CHECK(check("auto") <= check("multisection"));
    }
}

TEST_CASE("exact and auto prove the best placement on shared slots with fixed ranks") {
    const Machine machine = make_machine("tree:2:2,distance=1:3");
    const Allocation allocation = Allocation::whole(machine);
    for (std::uint32_t number = 0; number < 8; ++number) {
        CAPTURE(number);
        Rng rng(number);
        const CommGraph graph = random_pattern(6, 15, rng);
        const Problem plain(graph, allocation, 1, 1, {.imbalance = 0.5});
        const Problem problem = plain.with_fixed(draw_fixed_ranks(plain, 1 + rng.below(4), rng));
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::array<std::int64_t, 4> left{};
        for (std::uint32_t code = 0; code < 4096; ++code) {
            std::ranges::copy(problem.capacity().capacities(), left.begin());
            std::vector<Slot> slots;
            for (std::uint32_t u = 0; u < 6; ++u) {
                slots.emplace_back(code >> 2 * u & 3U);
                --left[slots.back().value];
            }
            if (std::ranges::min(left) >= 0 && problem.fixed().are_in_place(slots))
                least = std::min(least, problem.value(slots));
        }
        for (const char* mapper : {"auto(effort=fast)", "exact"}) {
            const PlaceResult found = place(problem, mapper);
            CHECK(problem.value(found.placement.slots()) == least);
            CHECK(found.proven == static_cast<double>(least));
        }
    }
}

TEST_CASE("annealing by regions, and moves weighed against migration, leave fixed ranks on their slots") {
    const Machine machine = make_machine("torus:6x6x6");
    const Allocation allocation = fragmented_allocation(machine, 150, 3, 1);
    const CommGraph graph = random_geometric(140, Bytes{100}, 2, 6);
    Rng rng(2);
    std::vector<std::optional<Slot>> from(graph.rank_count(), allocation.slots()[3]);
    for (const std::size_t count : {3, 70}) {
        CAPTURE(count);
        const Problem plain(graph, allocation, 2, 1);
        const Problem problem = plain.with_fixed(draw_fixed_ranks(plain, count, rng));
        const Placement start = place(problem, "random").placement;
        Meter meter{Budget{}};
        for (const std::uint32_t region : {16, 40}) {
            const Placement found =
                local::anneal_by_regions(problem, start, meter, {.sweeps = 40, .chains = 1}, region);
            CHECK(problem.fixed().are_in_place(found.slots()));
            CHECK(problem.value(found.slots()) < problem.value(start.slots()));
        }
        const Problem moved = problem.with_migration({from, Bytes{1 << 20}});
        for (const char* chain :
             {"random+resettle", "random+tabu(dense=0,iterations=500)", "random+tabu(iterations=20)"})
            CHECK(problem.fixed().are_in_place(place(moved, chain).placement.slots()));
    }
}

TEST_CASE("the dense value of the movable part and the cost of fixed ranks add up to the value") {
    const Machine machine = make_machine("torus:3x3+node:2:2");
    Rng rng(4);
    const Allocation allocation = draw_slots(machine, 30, rng);
    const CommGraph graph = random_pattern(26, 90, rng);
    std::vector<std::optional<Slot>> from(graph.rank_count());
    for (std::size_t u = 0; u < from.size(); u += 2) from[u] = Slot{rng.below(36)};
    for (const std::size_t count : {0, 1, 9, 25}) {
        const Problem plain(graph, allocation, 1, 1);
        const Problem problem =
            plain.with_fixed(draw_fixed_ranks(plain, count, rng)).with_migration({from, Bytes{17}});
        const Placement placement = place(problem, "random").placement;
        const MovablePart part(problem);
        const qap::Permutation assignment = assignment_of(part, placement);
        CHECK(dense_qap(part).value(assignment) + part.fixed_cost() == problem.value(placement.slots()));
        CHECK(placement_of(part, assignment) == placement);
    }
}

TEST_CASE("mappers that define an order keep it for the ranks that are not fixed") {
    const Machine machine = make_machine("mesh:6");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = make_stencil(1, 5);
    const std::vector<FixedRank> fixed{{Rank{3}, Slot{0}}, {Rank{0}, Slot{4}}};
    const Problem problem = Problem(graph, allocation).with_fixed({5, fixed});
    const std::vector<Slot> expected{Slot{4}, Slot{1}, Slot{2}, Slot{0}, Slot{3}};
    for (const char* mapper : {"block", "round-robin", "hilbert", "snake"})
        CHECK(std::ranges::equal(place(problem, mapper).placement.slots(), expected));
}

TEST_CASE("multisection puts ranks beside their fixed partners") {
    const Machine machine = make_machine("tree:8:4,distance=1:10");
    const Allocation allocation = Allocation::whole(machine);
    // Four stars of eight ranks; their centers are fixed on different branches, in reverse order.
    std::vector<FixedRank> fixed;
    for (std::uint32_t star = 0; star < 4; ++star) fixed.emplace_back(Rank{star}, Slot{8 * (3 - star)});
    const CommGraph graph = CommGraph::from_rows(32, [](Rank u, const auto& add) {
        if (u.value >= 4) add(Edge{Rank{u.value % 4}, Bytes{10}, 1});
    });
    const Problem problem = Problem(graph, allocation, 1, 1).with_fixed({32, fixed});
    CHECK(problem.value(place(problem, "multisection").placement.slots()) == 28 * 10 * 1);
}

TEST_CASE("fixed ranks that cannot be on their slots are refused") {
    const Machine machine = make_machine("torus:4");
    const Allocation allocation = Allocation::of_slots(machine, {Slot{0}, Slot{2}, Slot{3}});
    const CommGraph graph = make_stencil(1, 3);
    const auto fix = [&](std::vector<FixedRank> fixed) {
        return Problem(graph, allocation).with_fixed({graph.rank_count(), fixed});
    };
    CHECK_THROWS_WITH_AS(fix({{Rank{3}, Slot{0}}}), doctest::Contains("ranks are 0 to 2"), Error);
    CHECK_THROWS_WITH_AS(fix({{Rank{1}, Slot{0}}, {Rank{1}, Slot{2}}}), doctest::Contains("fixed twice"),
                         Error);
    CHECK_THROWS_WITH_AS(fix({{Rank{0}, Slot{1}}}), doctest::Contains("not in the allocation"), Error);
    CHECK_THROWS_WITH_AS(fix({{Rank{0}, Slot{9}}}), doctest::Contains("not in the allocation"), Error);
    CHECK_THROWS_WITH_AS(fix({{Rank{0}, Slot{2}}, {Rank{2}, Slot{2}}}), doctest::Contains("no room"), Error);
}
