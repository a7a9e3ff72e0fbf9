// SPDX-License-Identifier: BSD-3-Clause
// Hop-bytes bounds: valid for all placements, and tight for matching patterns.
#include <string>

#include "bound/bound_cases.hpp"
#include "topoloom/base/budget.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/dense_bounds.hpp"
#include "topoloom/bound/distance_profile.hpp"
#include "topoloom/bound/sparse_bound.hpp"
#include "topoloom/bound/transport.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/qap/linear_assignment.hpp"

using namespace topoloom;

namespace {

/// Gilmore and Lawler's bound by its definition: the minimum scalar product of each row over all orders of
/// columns.
std::int64_t reference_gilmore_lawler(const CommGraph& graph, const Allocation& allocation) {
    const CommGraph symmetric = graph.symmetric();
    const Machine& machine = allocation.machine();
    std::vector<std::size_t> order(allocation.slot_count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::vector<std::int64_t>> costs(graph.rank_count());
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        std::vector<std::int64_t> weights;
        for (const Edge edge : symmetric.sends(u)) weights.push_back(edge.bytes.value);
        std::ranges::sort(weights, std::greater());
        for (const Slot here : allocation.slots()) {
            std::vector<std::int64_t> distances;
            for (const Slot there : allocation.slots()) {
                if (here != there)
                    distances.push_back(
                        std::min(machine.distance(here, there), machine.distance(there, here)));
            }
            std::ranges::sort(distances);
            costs[u.value].push_back(
                std::inner_product(weights.begin(), weights.end(), distances.begin(), std::int64_t{0}));
        }
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    do {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < costs.size(); ++i) sum += costs[i][order[i]];
        least = std::min(least, sum);
    } while (std::ranges::next_permutation(order).found);
    return halve_symmetric_bound(least);
}

/// Ranks on random slots with sufficient capacity.
Placement random_shared_placement(const Allocation& allocation, std::span<const std::uint32_t> capacities,
                                  std::size_t ranks, Rng& rng) {
    std::vector<Slot> places;
    for (std::size_t i = 0; i < capacities.size(); ++i)
        places.insert(places.end(), capacities[i], allocation.slots()[i]);
    rng.shuffle(std::span(places));
    places.resize(ranks);
    return {allocation, std::move(places), SlotUse::shared};
}

/// Returns the highest bound, and checks that the sparse bound is at most the dense bound.
std::int64_t find_highest_bound(const BoundProblem& problem) {
    const std::int64_t dense = bound::gilmore_lawler_bound(problem);
    CHECK(bound::sparse_bound(problem) <= dense);
    const Budget budget;
    Meter meter(budget);
    return std::max({dense, bound::projection_bound(problem).value_or(0),
                     bound::dual_ascent_bound(problem, meter).value_or(0)});
}

}  // namespace

TEST_CASE("no random placement has fewer hop-bytes than the best bound, on any machine" *
          doctest::test_suite("threads")) {
    for_each_bound_case(30, [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
        const BoundProblem problem(graph, allocation);
        const std::int64_t best = find_highest_bound(problem);
        for (int i = 0; i < 20; ++i) {
            const Placement placement = random_placement(allocation, graph.rank_count(), rng);
            CHECK(best <= hop_bytes(graph, allocation.machine(), placement.slots()));
        }
    });
}

TEST_CASE("the Gilmore-Lawler bound equals its definition, and is at most the optimum") {
    for_each_bound_case(6, [](const CommGraph& graph, const Allocation& allocation, Rng&) {
        const std::int64_t bound = bound::gilmore_lawler_bound(BoundProblem(graph, allocation));
        CHECK(bound == reference_gilmore_lawler(graph, allocation));
        const BoundProblem problem(graph, allocation);
        const Budget budget;
        Meter meter(budget);
        const std::int64_t least = min_hop_bytes_of_all(graph, allocation);
        CHECK(bound <= least);
        CHECK(bound::projection_bound(problem).value_or(0) <= least);
        CHECK(bound::dual_ascent_bound(problem, meter).value_or(0) <= least);
        // The first sweep gives Gilmore and Lawler's bound, except that it rounds bytes down by up to one
        // part in 10^6.
        if (const auto raised = bound::dual_ascent_bound(problem, meter))
            CHECK(*raised >= bound - bound / 100'000 - 1);
    });
}

TEST_CASE("bounds account for ranks on the same slot") {
    for_each_bound_case(12, [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
        std::vector<std::uint32_t> capacities;
        std::uint32_t all = 0;
        for (std::size_t i = 0; i < allocation.slot_count(); ++i)
            all += capacities.emplace_back(rng.below(4));
        if (all < graph.rank_count())
            capacities.front() += static_cast<std::uint32_t>(graph.rank_count()) - all;
        const BoundProblem problem(graph, allocation, capacities);
        const std::int64_t best = find_highest_bound(problem);
        for (int i = 0; i < 10; ++i) {
            const Placement placement =
                random_shared_placement(allocation, capacities, graph.rank_count(), rng);
            CHECK(best <= hop_bytes(graph, allocation.machine(), placement.slots()));
        }
    });
}

TEST_CASE("bounds do not depend on the numbering of ranks and slots") {
    for_each_bound_case(20, [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
        std::vector<Rank> name;
        for (const Rank u : ids<Rank>(graph.rank_count())) name.push_back(u);
        rng.shuffle(std::span(name));
        std::vector<Rank> sources;
        std::vector<Rank> peers;
        std::vector<Bytes> bytes;
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                sources.push_back(name[u.value]);
                peers.push_back(name[edge.peer.value]);
                bytes.push_back(edge.bytes);
            }
        }
        const auto renamed = CommGraph::from_edges(graph.rank_count(), sources, peers, bytes);
        std::vector<Slot> slots(allocation.slots().begin(), allocation.slots().end());
        rng.shuffle(std::span(slots));
        const auto reordered = Allocation::of_slots(allocation.machine(), slots);
        const BoundProblem problem(graph, allocation);
        const BoundProblem other(renamed, reordered);
        CHECK(bound::gilmore_lawler_bound(problem) == bound::gilmore_lawler_bound(other));
        CHECK(bound::sparse_bound(problem) == bound::sparse_bound(other));
    });
}

TEST_CASE("bounds are exact for stencils on a torus of the same shape") {
    const std::vector<std::pair<std::string, std::vector<GridAxis>>> cases{
        {"torus:4x4x4", std::vector<GridAxis>(3, {4, true})},
        {"torus:8x5", {{8, true}, {5, true}}},
        {"mesh:6x5x3", {{6, false}, {5, false}, {3, false}}},
        {"torus:24x24x24", std::vector<GridAxis>(3, {24, true})},
    };
    for (const auto& [text, grid] : cases) {
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const CommGraph graph = stencil(grid, StencilShape::star, Bytes{1000});
        const BoundProblem problem(graph, allocation);
        CHECK(bound::sparse_bound(problem) == graph.total_bytes().value);
        if (graph.rank_count() <= 100)
            CHECK(bound::gilmore_lawler_bound(problem) == graph.total_bytes().value);
    }
}

TEST_CASE("with several slots per node the bound assumes that the heaviest partners are nearest") {
    // With 2 x 2 x 2 ranks on a node, three of a rank's six neighbors share its node. Some ranks, but not
    // all, could have a fourth there.
    const Machine machine = make_machine("torus:2x2x2+node:8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {4, true}), StencilShape::star, Bytes{1});
    CHECK(bound::sparse_bound(BoundProblem(graph, allocation)) == 0);
}

TEST_CASE("nearest distances in large allocations, searched region by region, equal those of a full search") {
    Rng rng(4);
    for (const std::string text : {"torus:20x21x22", "tree:24:20:21,distance=1:10:100", "mesh:96x97"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        std::vector<Node> nodes;
        for (const Node node : machine.usable_nodes()) {
            if (rng.below(100) < 95) nodes.push_back(node);
        }
        const Allocation allocation(machine, nodes);
        const CommGraph graph = random_pattern(nodes.size(), nodes.size(), rng);
        std::vector<std::uint32_t> capacities;
        for (std::size_t i = 0; i < nodes.size(); ++i) capacities.push_back(1 + rng.below(2));
        const BoundProblem problem(graph, allocation, capacities);
        const bound::DistanceProfiles near = bound::distance_profiles(problem, 9);
        for (int i = 0; i < 40; ++i) {
            const std::uint32_t position = rng.below(static_cast<std::uint32_t>(nodes.size()));
            std::vector<std::uint32_t> distances(capacities[position] - 1, 0);
            for (std::size_t j = 0; j < nodes.size(); ++j) {
                if (j == position) continue;
                distances.insert(distances.end(), capacities[j],
                                 machine.distance(allocation.slots()[position], allocation.slots()[j]));
            }
            std::ranges::sort(distances);
            std::vector<std::uint32_t> found;
            for (const bound::DistanceStep& run : near.profiles[near.of_slot[position]])
                found.resize(run.count, run.distance);
            distances.resize(9);
            CHECK(found == distances);
        }
    }
}

TEST_CASE("assigning classes costs as much as assigning their members one by one") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Rng rng(seed);
        const std::size_t rows = 1 + rng.below(6);
        const std::size_t columns = 1 + rng.below(6);
        std::vector<std::uint64_t> supplies;
        std::vector<std::uint64_t> capacities;
        std::uint64_t spare = 0;
        for (std::size_t j = 0; j < columns; ++j) spare += capacities.emplace_back(rng.below(9));
        for (std::size_t i = 0; i < rows; ++i) {
            supplies.push_back(rng.below(static_cast<std::uint32_t>(spare + 1)));
            spare -= supplies.back();
        }
        std::vector<std::int64_t> costs;
        for (std::size_t k = 0; k < rows * columns; ++k) costs.push_back(rng.below(20));
        std::vector<std::int64_t> members;
        std::size_t places = 0;
        for (const std::uint64_t c : capacities) places += c;
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::uint64_t r = 0; r < supplies[i]; ++r) {
                for (std::size_t j = 0; j < columns; ++j)
                    members.insert(members.end(), capacities[j], costs[i * columns + j]);
            }
        }
        CHECK(bound::min_transport_cost(costs, supplies, capacities) ==
              (members.empty() ? 0 : qap::LinearAssignment<std::int64_t>().solve(members, places)));
    }
    CHECK_THROWS_AS(
        (void)bound::min_transport_cost(std::vector<std::int64_t>{1}, std::vector<std::uint64_t>{2},
                                        std::vector<std::uint64_t>{1}),
        Error);
}

TEST_CASE("no slot can hold more ranks than if it held only the lightest ones") {
    CHECK(max_ranks_on_slots(std::vector<std::int64_t>{5, 1, 3}, std::vector<std::int64_t>{0, 1, 4, 8, 9}) ==
          std::vector<std::uint32_t>{0, 1, 2, 2, 3});
}

TEST_CASE("problems that no bound supports are refused") {
    const Machine machine = make_machine("torus:2x2");
    const Allocation allocation = Allocation::whole(machine);
    Rng rng(1);
    CHECK_THROWS_WITH_AS(BoundProblem(random_pattern(5, 4, rng), allocation),
                         "the pattern has 5 ranks, but the allocation has a capacity of 4", Error);
    CHECK_THROWS_AS(BoundProblem(CommGraph(), allocation), Error);
    const CommGraph graph = random_pattern(4, 4, rng);
    CHECK_THROWS_AS(BoundProblem(graph, allocation, {1, 1}), Error);
}
