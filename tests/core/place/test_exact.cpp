// SPDX-License-Identifier: BSD-3-Clause
// The mapper exact finds the best of all placements, and reports valid bounds.
#include <limits>

#include "bound/bound_cases.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/dense/exact.hpp"

using namespace topoloom;

namespace {

std::vector<Slot> slots_of(const Placement& placement) {
    return {placement.slots().begin(), placement.slots().end()};
}

double compute_congestion(const CommGraph& graph, const Allocation& allocation, const Placement& placement) {
    return judge(graph, allocation.machine(), placement, 1).congestion_max;
}

double min_congestion_of_all(const CommGraph& graph, const Allocation& allocation) {
    double least = std::numeric_limits<double>::infinity();
    for_each_placement(allocation, graph.rank_count(), [&](const Placement& placement) {
        least = std::min(least, compute_congestion(graph, allocation, placement));
    });
    return least;
}

Problem make_congestion_problem(const CommGraph& graph, const Allocation& allocation) {
    return Problem(graph, allocation, 1, 1).with_objective(parse_objective("congestion"), {}, {});
}

}  // namespace

TEST_CASE("exact finds and proves the best of all placements, on any machine") {
    for_each_bound_case(6, [](const CommGraph& graph, const Allocation& allocation, Rng&) {
        const Problem problem(graph, allocation, 1, 1);
        const PlaceResult found = place(problem, "exact");
        const std::int64_t least = min_hop_bytes_of_all(graph, allocation);
        CHECK(problem.value(found.placement.slots()) == least);
        CHECK(found.proven == static_cast<double>(least));
        CHECK_FALSE(found.exhausted);
    });
}

TEST_CASE("exact includes migration cost") {
    for_each_bound_case(6, [](const CommGraph& graph, const Allocation& allocation, Rng& rng) {
        Migration migration{{}, Bytes{rng.below(300)}};
        const Placement before = random_placement(allocation, graph.rank_count(), rng);
        for (const Slot slot : before.slots()) migration.from.emplace_back(slot);
        migration.from.front() = std::nullopt;
        const Problem problem = Problem(graph, allocation, 1, 1).with_migration(migration);
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for_each_placement(allocation, graph.rank_count(), [&](const Placement& placement) {
            least = std::min(least, problem.value(placement.slots()));
        });
        const PlaceResult found = place(problem, "exact");
        CHECK(problem.value(found.placement.slots()) == least);
        CHECK(found.proven == static_cast<double>(least));
    });
}

TEST_CASE("with an exhausted budget, exact returns its best placement and bound, for any number of threads" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("mesh:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(14, Bytes{100}, 2, 6);
    double proven = 0;
    for (const std::uint64_t work : {1U, 1'000U, 30'000U, 100'000U, 1'000'000U}) {
        const Budget budget{.work = work};
        const Problem one(graph, allocation, 1, 1);
        const PlaceResult a = place(one, "exact", budget);
        const PlaceResult b = place(Problem(graph, allocation, 1, 3), "exact", budget);
        CHECK(slots_of(a.placement) == slots_of(b.placement));
        CHECK(a.work == b.work);
        CHECK(a.proven == b.proven);
        REQUIRE(a.proven);
        CHECK(*a.proven <= one.objective_value(a.placement.slots()));
        proven = std::max(proven, *a.proven);
    }
    const PlaceResult found = place(Problem(graph, allocation, 1, 1), "exact");
    CHECK(proven <= *found.proven);
    CHECK(found.proven == static_cast<double>(hop_bytes(graph, machine, found.placement.slots(), 1)));
}

TEST_CASE("only exact searches report a proven bound") {
    const Machine machine = make_machine("mesh:3x3");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(9, Bytes{100}, 2, 6);
    CHECK_FALSE(place(Problem(graph, allocation), "mahd+swap").proven);
    CHECK(place(Problem(graph, allocation), "exact+swap").proven);
}

TEST_CASE("minimum congestion is found and proven") {
    for_each_bound_case(5, [](const CommGraph& graph, const Allocation& allocation, Rng&) {
        if (allocation.machine().text().find("ugal") != std::string::npos) return;
        const PlaceResult found = place(make_congestion_problem(graph, allocation), "exact");
        const double least = min_congestion_of_all(graph, allocation);
        CHECK(compute_congestion(graph, allocation, found.placement) == doctest::Approx(least).epsilon(1e-9));
        CHECK(found.proven.value_or(-1) == doctest::Approx(least).epsilon(1e-9));
    });
}

TEST_CASE("a ring of eight threads on a Cell processor loads no link with more than one message" *
          doctest::test_suite("threads")) {
    const Machine cell = make_machine("ring:12,rings=2");
    std::vector<Node> elements;
    for (const std::uint32_t station : {10U, 1U, 9U, 2U, 8U, 3U, 7U, 4U}) elements.emplace_back(station);
    const Allocation allocation(cell, elements);
    const auto best_for = [&](const CommGraph& graph) {
        const PlaceResult found = place(make_congestion_problem(graph, allocation), "exact");
        const double value = compute_congestion(graph, allocation, found.placement);
        CHECK(found.proven.value_or(-1) == doctest::Approx(value));
        return value;
    };
    const Bytes size{16384};
    constexpr double rings = 2;  // each way
    CHECK(best_for(ring(8, size)) == 16384 / rings);
    // With different sizes the order of threads matters: the large message goes half-way around the ring, and
    // is split over both directions.
    const auto uneven =
        CommGraph::from_edges(8, std::vector<Rank>{Rank{0}, Rank{2}}, std::vector<Rank>{Rank{1}, Rank{3}},
                              std::vector<Bytes>{size, Bytes{100}});
    CHECK(best_for(uneven) == 16384 / rings / 2);
}

TEST_CASE("exact refuses other objectives, and problems whose search would exceed memory") {
    const Machine machine = make_machine("torus:16x16x16,bandwidth=1GB/s");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = ring(4096, Bytes{1});
    const Problem timed = Problem(graph, allocation).with_objective(parse_objective("time"), {}, {});
    CHECK_THROWS_WITH_AS(place(timed, "exact"), doctest::Contains("hop-bytes, or congestion"), Error);
    CHECK_THROWS_WITH_AS(place(Problem(graph, allocation), "exact"),
                         doctest::Contains("use fewer slots or another mapper"), Error);
}
