// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share slots: exact finds the best of all placements, and auto finds it on few slots.
#include <limits>

#include "bound/bound_cases.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// The minimum value of all placements within the capacities.
std::int64_t min_value_of_all(const Problem& problem) {
    const Allocation& allocation = problem.allocation();
    const std::size_t slots = allocation.slot_count();
    std::vector<std::size_t> position(problem.rank_count(), 0);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    while (true) {
        std::vector<std::int64_t> left(problem.capacity().capacities().begin(),
                                       problem.capacity().capacities().end());
        std::vector<Slot> slot_of_rank;
        for (std::size_t u = 0; u < position.size(); ++u) {
            left[position[u]] -= problem.capacity().masses()[u];
            slot_of_rank.push_back(allocation.slots()[position[u]]);
        }
        if (std::ranges::min(left) >= 0) least = std::min(least, problem.value(slot_of_rank));
        std::size_t digit = 0;
        while (digit < position.size() && ++position[digit] == slots) position[digit++] = 0;
        if (digit == position.size()) return least;
    }
}

/// Problems with more ranks than slots, or with as many ranks as slots and given capacities. Loads are equal
/// or different.
template <class Law>
void for_each_shared_case(const Law& law) {
    for_each_bound_case(3, [&](const CommGraph&, const Allocation& allocation, Rng& rng) {
        const std::size_t slots = allocation.slot_count();
        const std::size_t ranks = slots + rng.below(4);
        CommGraph graph = random_pattern(ranks, 3 * ranks, rng);
        Sharing sharing{.imbalance = 0.25 * rng.below(4)};
        if (rng.below(2) == 0) {
            std::vector<double> loads;
            for (std::size_t u = 0; u < ranks; ++u) loads.push_back(rng.below(4));
            graph = CommGraph::from_rows(
                ranks,
                [&](Rank u, const auto& add) {
                    for (const Edge edge : graph.sends(u)) add(edge);
                },
                loads);
            sharing = {};
            for (std::size_t s = 0; s < slots; ++s)
                sharing.capacity.push_back(6 + static_cast<double>(rng.below(9)));
        } else if (ranks == slots) {
            sharing.capacity.assign(slots, 2);
        }
        law(graph, allocation, sharing, rng);
    });
}

}  // namespace

TEST_CASE("exact finds and proves the optimum on shared slots, and auto finds it on few slots") {
    for_each_shared_case(
        [](const CommGraph& graph, const Allocation& allocation, const Sharing& sharing, Rng&) {
            const Problem problem(graph, allocation, 1, 1, sharing);
            const std::int64_t least = min_value_of_all(problem);
            const PlaceResult found = place(problem, "exact");
            CHECK(problem.value(found.placement.slots()) == least);
            CHECK(found.proven == static_cast<double>(least));
            for (const std::string chain : {"auto", "auto(effort=fast)", "auto(effort=best)"})
                CHECK(problem.value(place(problem, chain).placement.slots()) == least);
        });
}

TEST_CASE("exact includes migration cost on shared slots") {
    for_each_shared_case(
        [](const CommGraph& graph, const Allocation& allocation, const Sharing& sharing, Rng& rng) {
            Migration migration{{}, Bytes{rng.below(1U << 20)}};
            for (std::size_t u = 0; u < graph.rank_count(); ++u)
                migration.from.emplace_back(
                    allocation.slots()[rng.below(static_cast<std::uint32_t>(allocation.slot_count()))]);
            migration.from.front() = std::nullopt;
            const Problem problem =
                Problem(graph, allocation, 1, 1, sharing).with_migration(std::move(migration));
            const std::int64_t least = min_value_of_all(problem);
            const PlaceResult found = place(problem, "exact");
            CHECK(problem.value(found.placement.slots()) == least);
            CHECK(found.proven == static_cast<double>(least));
        });
}

TEST_CASE("on shared slots with an exhausted budget, exact returns its best placement and a valid bound") {
    const Machine machine = make_machine("torus:8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(14, Bytes{100}, 2, 6);
    const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.0});
    const PlaceResult found = place(problem, "exact");
    const std::int64_t least = problem.value(found.placement.slots());
    CHECK(found.proven == static_cast<double>(least));
    for (const std::uint64_t work : {1U, 1'000U, 10'000U, 100'000U}) {
        const PlaceResult cut = place(problem, "exact", {.work = work});
        CHECK(problem.value(cut.placement.slots()) >= least);
        REQUIRE(cut.proven);
        CHECK(*cut.proven <= static_cast<double>(least));
    }
}
