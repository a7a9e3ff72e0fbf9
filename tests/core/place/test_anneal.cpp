// SPDX-License-Identifier: BSD-3-Clause
// Annealing, and the components of local searches: gains, fast distances.
#include <doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../machine/machine_texts.hpp"
#include "../metric/random_problem.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/local/anneal.hpp"
#include "topoloom/place/local/region_anneal.hpp"
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/state/fast_space.hpp"
#include "topoloom/place/state/packed_graph.hpp"

using namespace topoloom;

namespace {

/// Machines with symmetric distances.
const std::vector<std::string>& annealed_machines() {
    static const std::vector<std::string> all{"torus:4x4x4",
                                              "mesh:9x7",
                                              "torus:5x3x2x3",
                                              "mesh:40",
                                              "torus:300x2",
                                              "tree:4:4:4,distance=1:10:100",
                                              "torus:3x5+node:3:2,distance=1:2:5",
                                              "torus:3x4+node:3:2,distance=1:2:5,port=0:6",
                                              random_graph(30, 5, 1)};
    return all;
}

Allocation random_four_fifths(const Machine& machine, std::uint64_t seed) {
    const Allocation whole = Allocation::whole(machine);
    std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
    Rng(seed).shuffle(std::span<Slot>(slots));
    slots.resize(slots.size() * 4 / 5);
    return Allocation::of_slots(machine, std::move(slots));
}

std::int64_t hop_bytes_by(const Problem& problem, std::string_view chain, const Budget& budget = {}) {
    return hop_bytes(problem.graph(), problem.machine(), place(problem, chain, budget).placement.slots());
}

}  // namespace

TEST_CASE("fast distances equal those of the machine") {
    for (const std::string& text : annealed_machines()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = random_four_fifths(machine, 1);
        with_fast_space(allocation, [&](const auto& space, const auto& points) {
            bool equal = true;
            for (std::size_t a = 0; a < points.size(); ++a) {
                for (std::size_t b = 0; b < points.size(); ++b)
                    equal &= space.distance(points[a], points[b]) ==
                             machine.distance(allocation.slots()[a], allocation.slots()[b]);
            }
            CHECK(equal);
        });
    }
}

TEST_CASE("gains equal differences of an arrangement's value, and undoing a change restores the value") {
    Rng rng(4);
    for (const std::string& text : annealed_machines()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = random_four_fifths(machine, 3);
        const std::size_t ranks = allocation.slot_count() - 3;
        const CommGraph graph = random_pattern(ranks, 6 * ranks, rng);
        const Problem problem(graph, allocation, 1, 1);
        const Placement start = random_placement(allocation, ranks, rng);
        with_arrangement(problem, start.slots(), [&](Arrangement& state) {
            const auto measured = [&] {
                return hop_bytes(graph, machine, placement_at(allocation, state.positions()).slots(), 1);
            };
            REQUIRE(state.total() == measured());
            for (int i = 0; i < 200; ++i) {
                const Rank u{rng.below(static_cast<std::uint32_t>(ranks))};
                const Position to{rng.below(static_cast<std::uint32_t>(allocation.slot_count()))};
                const Position from = state.position(u);
                const Rank v = state.occupant(to);
                if (v == u) continue;
                const bool free = v == Rank::none;
                const std::int64_t before = state.total();
                const std::int64_t gain = free ? state.move_gain(u, to) : state.exchange_gain(u, v);
                free ? state.move(u, to) : state.exchange(u, v);
                REQUIRE(state.total() == before - gain);
                REQUIRE(state.total() == measured());
                if (i % 2 == 0) continue;
                free ? state.move(u, from) : state.exchange(u, v);
                REQUIRE(state.total() == before);
            }
        });
    }
}

TEST_CASE("a packed graph has the edges of the graph with renumbered ranks, except edges of 0 bytes") {
    Rng rng(5);
    const CommGraph graph = random_pattern(40, 300, rng).symmetric();
    std::vector<Rank> order;
    for (const Rank u : ids<Rank>(40)) order.push_back(u);
    rng.shuffle(std::span(order));
    for (const std::int64_t factor : {std::int64_t{1}, std::int64_t{1} << 30}) {
        std::vector<Bytes> bytes;
        for (const Bytes b : graph.all_bytes()) bytes.emplace_back(b.value * factor);
        // Dividing these by a common divisor does not make them fit into 32 bits.
        bytes.back() = Bytes{bytes.back().value + (factor > 1 ? 1 : 0)};
        const CommGraph big = CommGraph::from_csr(graph.first(), graph.all_peers(), bytes);
        const std::int64_t divisor = std::max<std::int64_t>(1, common_divisor(big));
        with_packed_graph(big, order, [&](const auto& packed) {
            for (const Rank u : ids<Rank>(40)) {
                std::vector<std::pair<Rank, std::int64_t>> expected;
                for (const Edge edge : big.sends(order[u.value])) {
                    if (edge.bytes.value > 0) expected.emplace_back(edge.peer, edge.bytes.value);
                }
                std::vector<std::pair<Rank, std::int64_t>> found;
                for (const auto edge : packed.sends(u))
                    found.emplace_back(order[edge.peer.value], edge.bytes.value * divisor);
                CHECK(found == expected);
            }
        });
    }
}

TEST_CASE("anneal reaches the optimum for a ring on a ring and a torus on a torus") {
    const Machine circle = make_machine("torus:16");
    const Allocation on_circle = Allocation::whole(circle);
    const CommGraph round = ring(16, Bytes{10});
    CHECK(hop_bytes_by(Problem(round, on_circle, 1), "random+anneal(sweeps=1000,heat=1000,chains=4)") ==
          16 * 10);

    const Machine cube = make_machine("torus:4x4x4");
    const Allocation in_cube = Allocation::whole(cube);
    const std::vector<GridAxis> axes(3, GridAxis{4, true});
    const CommGraph halo = stencil(axes, StencilShape::star, Bytes{10});
    CHECK(hop_bytes_by(Problem(halo, in_cube, 1), "random+anneal(sweeps=4000,heat=1000,chains=8)") ==
          64 * 6 * 10);
}

TEST_CASE(
    "anneal gives the same result on any number of threads, is never worse than swap, and uses free slots") {
    const Machine machine = make_machine("torus:12x12x12");
    const Allocation allocation = fragmented_allocation(machine, 220, 4, 2);
    const CommGraph graph = random_geometric(200, Bytes{100}, 3, 8);
    const std::string anneal = "random+swap+anneal(sweeps=60,heat=500,chains=3)";
    const PlaceResult one = place(Problem(graph, allocation, 5, 1), anneal);
    const PlaceResult three = place(Problem(graph, allocation, 5, 3), anneal);
    CHECK(std::ranges::equal(one.placement.slots(), three.placement.slots()));
    CHECK(one.work == three.work);
    const Problem problem(graph, allocation, 5);
    CHECK(hop_bytes_by(problem, anneal) < hop_bytes_by(problem, "random+swap"));
    CHECK(hop_bytes_by(problem, "random+swap+anneal(heat=0)") <= hop_bytes_by(problem, "random+swap"));
}

TEST_CASE("with sweeps=0 annealing uses up its work budget") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(512, Bytes{1}, 3, 8);
    Budget budget;
    budget.work = 2'000'000;
    const PlaceResult one =
        place(Problem(graph, allocation, 1, 1), "random+anneal(sweeps=0,heat=500)", budget);
    const PlaceResult two =
        place(Problem(graph, allocation, 1, 2), "random+anneal(sweeps=0,heat=500)", budget);
    CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
    CHECK(one.work == two.work);
    CHECK(one.work > 1'700'000);
    CHECK(one.work < 2'400'000);  // every chain may exceed the budget by one round
}

TEST_CASE("annealing stops on request") {
    const Machine machine = make_machine("torus:10x10x10");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(1000, Bytes{1}, 1, 8);
    Budget budget;
    int asked = 0;
    budget.keep_going = [&](std::uint64_t) { return ++asked < 3; };
    const PlaceResult result = place(Problem(graph, allocation), "block+anneal(sweeps=1000000000)", budget);
    CHECK(result.exhausted);
    CHECK(asked == 3);
}

TEST_CASE("annealing by regions is never worse than its start, and equal for any number of threads" *
          doctest::test_suite("threads")) {
    for (const std::string& text : annealed_machines()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = random_four_fifths(machine, 2);
        for (const std::uint32_t region_size : {1U, 7U, 1000U}) {
            CAPTURE(region_size);
            const auto ranks = static_cast<std::uint32_t>(allocation.slot_count() - region_size % 3);
            const CommGraph graph = random_geometric(ranks, Bytes{8}, 1, 5);
            const auto anneal = [&](int threads, std::uint64_t work) {
                const Problem problem(graph, allocation, 3, threads);
                const Budget budget{.work = work};
                Meter meter(budget);
                Placement start = simple::place_block(problem, meter);
                const std::int64_t before = problem.value(start.slots());
                const Placement found = local::anneal_by_regions(problem, std::move(start), meter,
                                                                 {.sweeps = 0, .heat = 1000}, region_size);
                CHECK(problem.value(found.slots()) <= before);
                return std::vector<Slot>(found.slots().begin(), found.slots().end());
            };
            for (const std::uint64_t work : {1'000ULL, 10'000ULL}) CHECK(anneal(1, work) == anneal(3, work));
        }
    }
}

TEST_CASE("every slot with a rank that has partners is in exactly one region") {
    const Machine machine = make_machine("torus:6x6x6");
    const Allocation allocation = random_four_fifths(machine, 4);
    const CommGraph graph = random_geometric(150, Bytes{8}, 1, 5).symmetric();
    std::vector<Rank> order;
    for (const Rank u : ids<Rank>(graph.rank_count())) order.push_back(u);
    const std::vector<Position> position = id_list<Position>(order.size());
    std::vector<Rank> occupant(allocation.slot_count(), Rank::none);
    std::ranges::copy(order, occupant.begin());
    const NearLists near(allocation, 6);
    const local::SlotRegions regions(graph, 150, near, position, occupant, 20, Rng(1));
    std::vector<int> is_seen(allocation.slot_count(), 0);
    for (const Part r : ids<Part>(regions.size())) {
        for (const Position p : regions.positions(r)) {
            ++is_seen[p.value];
            CHECK(regions.region_of(p) == r);
            CHECK(regions.positions(r)[regions.local(p).value] == p);
        }
    }
    CHECK(std::ranges::all_of(std::span(is_seen).first(150), [](int times) { return times == 1; }));
    CHECK(std::ranges::all_of(is_seen, [](int times) { return times <= 1; }));
}
