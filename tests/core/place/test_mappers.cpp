// SPDX-License-Identifier: BSD-3-Clause
// Laws that hold for every mapper on every machine.
#include <doctest.h>

#include <algorithm>
#include <set>

#include "../machine/machine_texts.hpp"
#include "metric/congestion_key.hpp"
#include "pattern/collectives.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// Either the mappers that construct placements or those that improve them, with fast effort if there is a
/// choice. Excludes `previous`, which needs an earlier placement, `exact`, which is limited to few ranks, and
/// mappers that need a grid, patches, or a ring bus.
std::vector<std::string> mappers_for(Occupancy kind, bool constructing) {
    std::vector<std::string> names;
    for (const MapperEntry& entry : mappers()) {
        if (entry.is_constructor() != constructing || entry.name == "previous" || entry.name == "exact")
            continue;
        if (entry.needs.starts_with("grid of ranks") || entry.needs.starts_with("patches")) continue;
        if (entry.needs.starts_with("eight ranks")) continue;
        if (entry.occupancy != kind && entry.occupancy != Occupancy::both) continue;
        // Searches that are slow by default are tested with less effort.
        if (entry.name == "auto")
            names.push_back(auto_chain(Effort::fast));
        else if (entry.name == "grasp")
            names.emplace_back("grasp(restarts=1)");
        else if (entry.name == "hybrid")
            names.emplace_back("hybrid(part=8)");
        else if (entry.name == "congestion")
            names.emplace_back("congestion(sweeps=5)");
        else
            names.emplace_back(entry.name);
    }
    return names;
}

/// Patterns with at most `most` ranks: connected and not, regular and not, some with isolated ranks.
std::vector<CommGraph> make_patterns(std::size_t most, std::uint64_t seed) {
    std::vector<CommGraph> graphs;
    graphs.push_back(ring(most, Bytes{1000}));
    graphs.push_back(binomial_tree(most, Bytes{7}));
    graphs.push_back(bruck(std::max<std::size_t>(1, most / 2), Bytes{64}));
    if (most > 8) graphs.push_back(random_geometric(most - 1, Bytes{512}, seed, 3));
    graphs.push_back(CommGraph::from_rows(most, [](Rank, const auto&) {}));
    return graphs;
}

/// Three quarters of the slots, in random order.
Allocation random_three_quarters(const Machine& machine, std::uint64_t seed) {
    const Allocation whole = Allocation::whole(machine);
    std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
    Rng(seed).shuffle(std::span<Slot>(slots));
    slots.resize(std::max<std::size_t>(1, slots.size() * 3 / 4));
    return Allocation::of_slots(machine, std::move(slots));
}

/// Every machine of machine_texts() with at most `most` slots, and some with levels inside their nodes.
std::vector<std::string> machines_up_to(std::size_t most) {
    std::vector<std::string> texts;
    for (const std::string& text : machine_texts_with_node_levels()) {
        if (make_machine(text).slot_count() <= most) texts.push_back(text);
    }
    return texts;
}

}  // namespace

TEST_CASE(
    "every constructor gives a valid placement of every pattern on every machine, the same in each run") {
    const std::vector<std::string> names = mappers_for(Occupancy::alone, true);
    for (const std::string& text : machines_up_to(100)) {
        const Machine machine = make_machine(text);
        for (const Allocation& allocation : {Allocation::whole(machine), random_three_quarters(machine, 3)}) {
            for (const CommGraph& graph : make_patterns(allocation.slot_count(), 5)) {
                for (const std::string& name : names) {
                    CAPTURE(text);
                    CAPTURE(name);
                    if (name == "mht" && !machine.has_grid()) {
                        CHECK_THROWS_WITH_AS((void)place(Problem(graph, allocation), name),
                                             doctest::Contains("use mahd"), Error);
                        continue;
                    }
                    Budget budget;
                    if (name.starts_with("auto")) budget.work = 50'000;  // else it spends most time on proofs
                    const PlaceResult one = place(Problem(graph, allocation, 7, 1), name, budget);
                    const PlaceResult two = place(Problem(graph, allocation, 7, 2), name, budget);
                    REQUIRE(one.placement.rank_count() == graph.rank_count());
                    // The constructor of Placement refuses invalid values, too, but these checks do not rely
                    // on it.
                    const std::set<Slot> used(one.placement.slots().begin(), one.placement.slots().end());
                    CHECK(used.size() == graph.rank_count());
                    CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
                    CHECK(one.work == two.work);
                }
            }
        }
    }
}

TEST_CASE("no improver makes a placement worse, and its result does not depend on the number of threads" *
          doctest::test_suite("threads")) {
    const std::vector<std::string> names = mappers_for(Occupancy::alone, false);
    for (const std::string& text : machines_up_to(100)) {
        const Machine machine = make_machine(text);
        const Allocation allocation = random_three_quarters(machine, 11);
        for (const CommGraph& graph : make_patterns(allocation.slot_count(), 9)) {
            for (const std::string& name : names) {
                for (const std::string start : {"random", "mahd", "block"}) {
                    CAPTURE(text);
                    CAPTURE(name);
                    const Problem problem(graph, allocation, 3, 1);
                    const std::string chain = start + "+" + name;
                    const bool by_links = name == "local-opt" || name.starts_with("congestion");
                    const auto value = [&](const Placement& p) {
                        const CongestionKey key = congestion_key(graph, machine, p.slots());
                        return by_links ? key : CongestionKey{0, 0, key.hop_bytes};
                    };
                    const PlaceResult better = place(problem, chain);
                    CHECK(value(better.placement) <= value(place(problem, start).placement));
                    const PlaceResult again = place(Problem(graph, allocation, 3, 2), chain);
                    CHECK(std::ranges::equal(better.placement.slots(), again.placement.slots()));
                }
            }
        }
    }
}

TEST_CASE("under any work budget every chain returns a valid placement, the same for any number of threads" *
          doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:6x6x6");
    const Allocation allocation = fragmented_allocation(machine, 150, 3, 1);
    const CommGraph graph = random_geometric(140, Bytes{100}, 2, 6);
    for (const std::string chain : {"gge", "mahd", "emahd", "random+swap", "mahd+swap"}) {
        for (const std::uint64_t work : {0U, 1U, 500U, 20000U}) {
            Budget budget;
            budget.work = work;
            const PlaceResult one = place(Problem(graph, allocation, 1, 1), chain, budget);
            const PlaceResult two = place(Problem(graph, allocation, 1, 2), chain, budget);
            CHECK(std::ranges::equal(one.placement.slots(), two.placement.slots()));
            CHECK(one.work == two.work);
        }
    }
}

TEST_CASE("a search stops on request and returns its best placement") {
    const Machine machine = make_machine("torus:20x20x20");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_geometric(8000, Bytes{1}, 1, 8);
    Budget budget;
    int asked = 0;
    budget.keep_going = [&](std::uint64_t) { return ++asked < 3; };
    const PlaceResult result = place(Problem(graph, allocation), "mahd+swap", budget);
    CHECK(result.exhausted);
    CHECK(result.placement.rank_count() == 8000);
    CHECK(asked == 3);
}

TEST_CASE("invalid chains are refused with the reason") {
    const Machine machine = make_machine("torus:4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = ring(4, Bytes{1});
    const auto says = [&](std::string_view chain, std::string_view part) {
        CAPTURE(chain);
        try {
            (void)place(Problem(graph, allocation), chain);
            FAIL("accepted");
        } catch (const Error& error) {
            CHECK_MESSAGE(std::string_view(error.what()).find(part) != std::string_view::npos, error.what());
        }
    };
    says("swap", "put a constructor before it");
    says("mahd+block", "can only come first");
    says("madh", "did you mean 'mahd'");
    says("", "no mapper ''");
    says("mahd+", "no mapper ''");
    says("gge,swap", "join the stages with +");
    says("mahd+swap(reach=0)", "from 1 to 100");
    says("mahd+swap(reach=two)", "an integer");
    says("mahd+swap(raech=2)", "did you mean 'reach'");
    says("mahd(weighted=1", "expected ')'");
    says("mahd(weighted)", "name=value");
    says("mahd(weighted=1,weighted=0)", "twice");
    says("block(x=1)", "no options");
    const CommGraph more = ring(5, Bytes{1});
    CHECK_THROWS_WITH_AS(
        Problem(more, allocation),
        "5 ranks do not fit on the 4 slots of 4 nodes; allocate more nodes, start fewer ranks, or let ranks "
        "share slots with an imbalance of 0",
        Error);
    says("block+refine", "for ranks that share slots; here each has one of its own");
    says("previous", "needs an earlier placement");
    const Problem shared(more, allocation, 1, 1, {.imbalance = 1.0});
    CHECK_THROWS_WITH_AS(
        (void)place(shared, "block+swap"),
        "mapper 'swap' gives each rank a slot of its own; for ranks that share slots use auto, "
        "multisection, refine or block",
        Error);
}
