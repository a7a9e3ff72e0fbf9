// SPDX-License-Identifier: BSD-3-Clause
// Multisection on every machine, and the order of points by which it divides slots.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "../machine/machine_texts.hpp"
#include "../metric/random_problem.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

Allocation some_slots(const Machine& machine, std::uint64_t seed) {
    const Allocation whole = Allocation::whole(machine);
    std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
    Rng(seed).shuffle(std::span<Slot>(slots));
    slots.resize(std::max<std::size_t>(1, slots.size() * 4 / 5));
    return Allocation::of_slots(machine, std::move(slots));
}

/// The same pattern with random loads.
CommGraph with_random_loads(const CommGraph& graph, std::vector<double> loads) {
    return CommGraph::from_rows(
        graph.rank_count(),
        [&](Rank u, const auto& add) {
            for (const Edge edge : graph.sends(u)) add(edge);
        },
        std::move(loads));
}

/// The total mass of ranks on each slot of the allocation.
std::vector<std::int64_t> mass_per_slot(const Problem& problem, const Placement& placement) {
    std::map<Slot, std::int64_t> on;
    for (std::size_t u = 0; u < placement.rank_count(); ++u)
        on[placement.slots()[u]] += problem.capacity().masses()[u];
    std::vector<std::int64_t> masses;
    for (const Slot slot : problem.allocation().slots()) masses.push_back(on[slot]);
    return masses;
}

bool respects_capacities(const Problem& problem, const Placement& placement) {
    const std::vector<std::int64_t> masses = mass_per_slot(problem, placement);
    return std::ranges::equal(masses, problem.capacity().capacities(), std::less_equal<>{});
}

const std::vector<std::string>& multisection_chains() {
    static const std::vector<std::string> all{"multisection", "multisection(starts=1)",
                                              "multisection(starts=2,cycles=1,family=3)"};
    return all;
}

}  // namespace

TEST_CASE("multisection is valid on every machine and the same for any number of threads" *
          doctest::test_suite("threads")) {
    Rng rng(1);
    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        for (const Allocation& allocation : {Allocation::whole(machine), some_slots(machine, 2)}) {
            const std::size_t slots = allocation.slot_count();
            for (const std::size_t ranks : {slots, slots - slots / 3, std::size_t{1}}) {
                const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
                for (const std::string& chain : multisection_chains()) {
                    CAPTURE(chain);
                    const PlaceResult one = place(Problem(graph, allocation, 3, 1), chain);
                    const PlaceResult two = place(Problem(graph, allocation, 3, 2), chain);
                    const std::set<Slot> used(one.placement.slots().begin(), one.placement.slots().end());
                    CHECK(used.size() == ranks);
                    CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
                    CHECK(one.work == two.work);
                }
            }
        }
    }
}

TEST_CASE(
    "multisection of small graphs that cannot be coarsened ends, for any number of ranks on two slots") {
    const Machine machine = make_machine("torus:2");
    const Allocation allocation = Allocation::whole(machine);
    for (std::size_t ranks = 3; ranks < 24; ++ranks) {
        CAPTURE(ranks);
        for (const CommGraph& graph :
             {ring(ranks, Bytes{1}), CommGraph::from_rows(ranks, [](Rank, const auto&) {})}) {
            const Problem problem(graph, allocation, 1, 1, {.imbalance = 0});
            for (const std::string chain :
                 {"multisection(family=3)", "multisection+refine(family=4,cycles=3)", "auto"})
                CHECK(respects_capacities(problem, place(problem, chain).placement));
        }
    }
}

TEST_CASE("a work budget of one unit ends multisection with a valid placement") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = some_slots(machine, 5);
    const CommGraph graph = random_geometric(400, Bytes{100}, 2, 6);
    Budget budget;
    budget.work = 1;
    const PlaceResult hurried = place(Problem(graph, allocation, 1, 1), "multisection", budget);
    const PlaceResult full = place(Problem(graph, allocation, 1, 1), "multisection");
    CHECK(hurried.exhausted);
    CHECK(hurried.work < full.work / 2);
    const std::set<Slot> used_slots(hurried.placement.slots().begin(), hurried.placement.slots().end());
    CHECK(used_slots.size() == 400);
    const CommGraph more = random_geometric(3000, Bytes{100}, 2, 6);
    const Problem shared(more, allocation, 1, 1, {.imbalance = 0});
    const PlaceResult packed = place(shared, "multisection", budget);
    CHECK(packed.exhausted);
    CHECK(respects_capacities(shared, packed.placement));
}

TEST_CASE("a stencil on a torus costs less than half of a random placement") {
    const std::array<GridAxis, 3> grid{{{8, true}, {8, true}, {8, true}}};
    const CommGraph graph = stencil(grid, StencilShape::star, Bytes{1});
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const Problem problem(graph, allocation);
    const auto value = [&](std::string_view chain) {
        return problem.value(place(problem, chain).placement.slots());
    };
    CHECK(value("multisection") * 2 < value("random"));
}

TEST_CASE("ranks of equal load fill shared slots exactly") {
    Rng rng(7);
    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = some_slots(machine, 4);
        const std::size_t slots = allocation.slot_count();
        for (const std::size_t ranks : {3 * slots - slots / 2, slots + 1}) {
            const CommGraph graph = random_pattern(ranks, 3 * ranks, rng);
            for (const double imbalance : {0.0, 0.3}) {
                const Sharing sharing{.imbalance = imbalance};
                for (const std::string& chain : multisection_chains()) {
                    CAPTURE(ranks);
                    CAPTURE(chain);
                    const Problem problem(graph, allocation, 3, 1, sharing);
                    const PlaceResult one = place(problem, chain);
                    CHECK(respects_capacities(problem, one.placement));
                    const PlaceResult two = place(Problem(graph, allocation, 3, 2, sharing), chain);
                    CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
                }
            }
        }
    }
}

TEST_CASE("capacities that sum to the total load are filled exactly, whether equal or not") {
    Rng rng(11);
    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = some_slots(machine, 6);
        std::vector<double> capacity;
        std::size_t ranks = 0;
        for (std::size_t s = 0; s < allocation.slot_count(); ++s) {
            const std::uint32_t c = rng.below(6);  // some slots have capacity 0
            capacity.push_back(c);
            ranks += c;
        }
        if (ranks == 0) capacity[0] = static_cast<double>(ranks = 1);
        const CommGraph graph = random_pattern(ranks, 3 * ranks, rng);
        const Problem problem(graph, allocation, 5, 1, {.capacity = capacity});
        for (const std::string& chain : multisection_chains()) {
            CAPTURE(chain);
            const std::vector<std::int64_t> masses = mass_per_slot(problem, place(problem, chain).placement);
            CHECK(std::ranges::equal(masses, problem.capacity().capacities()));
        }
    }
}

TEST_CASE("ranks of unequal loads respect capacities that leave some slack") {
    Rng rng(13);
    for (const std::string text :
         {"torus:4x4", "tree:4:8", "mesh:3x3+node:2:2,distance=1:2", "tree:2:2:2:2:2"}) {
        for (int i = 0; i < 4; ++i) {
            CAPTURE(text);
            CAPTURE(i);
            const Machine machine = make_machine(text);
            const Allocation allocation = Allocation::whole(machine);
            const std::size_t ranks = 12 * allocation.slot_count();
            std::vector<double> loads;
            for (std::size_t u = 0; u < ranks; ++u)
                loads.push_back(i % 2 == 0 ? rng.below(10) : static_cast<double>(rng.below(1000)) / 77);
            const CommGraph graph = with_random_loads(random_pattern(ranks, 4 * ranks, rng), loads);
            const Problem problem(graph, allocation, 3, 1, {.imbalance = 0.2});
            for (const std::string& chain : multisection_chains()) {
                CAPTURE(chain);
                CHECK(respects_capacities(problem, place(problem, chain).placement));
            }
        }
    }
}

TEST_CASE("ranks without load are placed, and so are ranks on slots at distance zero") {
    const Machine machine = make_machine("torus:3x3+node:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph light = with_random_loads(ring(100, Bytes{1}), std::vector<double>(100, 0));
    CHECK(place(Problem(light, allocation, 1, 1, {.imbalance = 0}), "multisection").placement.rank_count() ==
          100);
    const Machine point = make_machine("torus:1+node:7");
    const Allocation one = Allocation::whole(point);
    const CommGraph circle = ring(29, Bytes{1});
    const Problem one_node(circle, one, 1, 1, {.imbalance = 0});
    CHECK(respects_capacities(one_node, place(one_node, "multisection").placement));
}

TEST_CASE("sorting by split keys keeps equal points together and separates distinct ones") {
    Rng rng(3);
    for (const std::string& text : machine_texts_with_node_levels()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        with_space(machine, [&]<class Space>(const Space& space) {
            const Allocation whole = Allocation::whole(machine);
            const std::vector<Slot> all(whole.slots().begin(), whole.slots().end());
            for (int i = 0; i < 20; ++i) {
                std::vector<Slot> slots = i == 0 ? all : random_subset(all, rng);
                if (i % 3 == 1) slots.resize(std::min<std::size_t>(slots.size(), 2 + rng.below(4)));
                slots.push_back(
                    slots[rng.below(static_cast<std::uint32_t>(slots.size()))]);  // one of the points twice
                rng.shuffle(std::span(slots));
                std::vector<typename Space::Point> points;
                for (const Slot slot : slots) points.push_back(space.point(slot));
                const std::vector<SplitKey> keys = space.split_keys(points);
                REQUIRE(keys.size() == points.size());
                bool any_apart = false;
                bool equal_stay = true;
                for (std::size_t a = 0; a < points.size(); ++a) {
                    for (std::size_t b = 0; b < points.size(); ++b) {
                        any_apart = any_apart || space.distance(points[a], points[b]) > 0;
                        equal_stay = equal_stay && (slots[a] != slots[b] || keys[a] == keys[b]);
                    }
                }
                CHECK(equal_stay);
                const std::set<SplitKey> different(keys.begin(), keys.end());
                if (any_apart) CHECK(different.size() >= 2);
            }
        });
    }
}

TEST_CASE("sorting by split keys keeps nodes at the same position of the network together") {
    Rng rng(4);
    for_each_topology([&](const Machine& machine, const auto& topology) {
        const auto& geometry = topology.geometry();
        const auto all = all_points(machine, geometry);
        for (int i = 0; i < 10; ++i) {
            const auto points = i == 0 ? all : random_subset(all, rng);
            const std::vector<SplitKey> keys = geometry.split_keys(points);
            std::vector<std::size_t> order(points.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
            bool together = true;
            for (std::size_t a = 0; a < order.size(); ++a) {
                bool left = false;
                for (std::size_t b = a; b < order.size(); ++b) {
                    const bool same = geometry.distance(points[order[a]], points[order[b]]) == 0;
                    together = together && !(same && left);
                    left = left || !same;
                }
            }
            CHECK(together);
        }
    });
}

TEST_CASE("many ranks are divided the same way by any number of threads" * doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:35x35x35");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(40'000, Bytes{8}, 1, 5);
    const auto slots = [&](int threads) {
        const Placement placement =
            place(Problem(graph, allocation, 1, threads), "multisection", Budget{}).placement;
        return std::vector<Slot>(placement.slots().begin(), placement.slots().end());
    };
    CHECK(slots(1) == slots(3));
}

TEST_CASE("a time limit that expires during bisection leaves a valid placement") {
    const Machine machine = make_machine("torus:28x28x28");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(21'000, Bytes{8}, 1, 5);
    for (const int looks : {0, 1, 3, 5, 8, 12}) {
        CAPTURE(looks);
        int left = looks;
        const Budget budget{.keep_going = [&](std::uint64_t) { return left-- > 0; }};
        const PlaceResult result = place(Problem(graph, allocation, 1, 2), "multisection", budget);
        CHECK(result.exhausted);
        const std::set<Slot> used(result.placement.slots().begin(), result.placement.slots().end());
        CHECK(used.size() == 21'000);
    }
}
