// SPDX-License-Identifier: BSD-3-Clause
// Budgets limit preparations as well as searches.
#include <doctest.h>

#include <algorithm>

#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// All mappers that support the problem, improvers after block order. Excludes the oblivious ones, which
/// prepare nothing, and those that need more input.
std::vector<std::string> list_chains() {
    std::vector<std::string> chains;
    for (const MapperEntry& entry : mappers()) {
        if (entry.occupancy == Occupancy::shared || !entry.needs.starts_with("graph")) continue;
        if (entry.name == "exact") continue;
        if (entry.needs.ends_with("earlier placement")) continue;
        chains.push_back(entry.is_constructor() ? std::string(entry.name)
                                                : "block+" + std::string(entry.name));
    }
    return chains;
}

std::size_t count_elements(const Problem& problem) {
    return problem.allocation().slot_count() + problem.rank_count() + problem.graph().edge_count();
}

}  // namespace

TEST_CASE("a budget that allows no preparation ends in block order") {
    const Machine machine = make_machine("torus:20x20x20");
    const Allocation allocation = fragmented_allocation(machine, 5000, 5, 1);
    const CommGraph graph = random_geometric(4900, Bytes{100}, 1, 6);
    for (const bool for_links : {false, true}) {
        const Problem plain(graph, allocation, 1, 1);
        const Problem problem =
            for_links ? plain.with_objective(objective_of(ObjectiveKind::congestion), {}, {}) : plain;
        const Placement block = place(problem, "block").placement;
        for (const std::string& chain : list_chains()) {
            CAPTURE(chain);
            const PlaceResult result = place(problem, chain, {.work = 1});
            CHECK(result.exhausted);
            CHECK(std::ranges::equal(result.placement.slots(), block.slots()));
            CHECK(result.work <= 8 * count_elements(problem));
        }
    }
}

TEST_CASE("every mapper ends soon after its work budget, the same for any number of threads" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:16x12x10");
    const Allocation allocation = fragmented_allocation(machine, 1200, 5, 1);
    const CommGraph graph = random_geometric(1150, Bytes{100}, 1, 6);
    for (const std::string& chain : list_chains()) {
        for (const std::uint64_t work : {2'000U, 20'000U}) {
            CAPTURE(chain);
            CAPTURE(work);
            const PlaceResult one = place(Problem(graph, allocation, 1, 1), chain, {.work = work});
            const PlaceResult two = place(Problem(graph, allocation, 1, 2), chain, {.work = work});
            CHECK(one.work <= work + 30 * count_elements(Problem(graph, allocation)));
            CHECK(one.work == two.work);
            CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
        }
    }
}
