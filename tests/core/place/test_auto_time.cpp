// SPDX-License-Identifier: BSD-3-Clause
// Predicted times: for any automatic objective, placements by auto are never slower than block order.
// Improvers for `time` never return placements that are slower than their starts.
#include <doctest.h>

#include <string>
#include <vector>

#include "../metric/random_problem.hpp"
#include "../metric/reference_time.hpp"
#include "changed_graphs.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

constexpr double rounding = 1 + 1e-9;

const std::vector<std::string> timed_machines{
    "torus:3x4,nodes=2,bandwidth=1GB/s,latency=1us+node:2",
    "mesh:6x4,bandwidth=1GB/s,latency=20us+node:2,startup=1us",
    "dragonfly:5x4,nodes=2,cards=2,bandwidth=25GB/s,latency=1us+node:2,memory=20GB/s",
    "hyperx:3x4,bandwidth=10GB/s,bandwidth.host=2GB/s+node:4,distance=3",
    "fattree:4:4,up=1:2,bandwidth=12GB/s+node:2:2,distance=1:2,bandwidth=5GB/s,startup=2us",
    "tree:4:4,bandwidth=10GB/s:2GB/s+node:4,memory=5GB/s,memory-startup=5us",
    "rails:4:2:4,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
    "hyperx:3x4,nodes=2,bandwidth=4GB/s+down:0-4,9+node:2"};

std::vector<CommGraph> random_patterns(std::size_t ranks, Rng& rng) {
    std::vector<CommGraph> all;
    all.push_back(random_pattern(ranks, 5 * ranks, rng));
    all.push_back(renumber_ranks(ring(ranks, Bytes{1'000'000}), 2));
    all.push_back(random_geometric(ranks, Bytes{100'000}, 3, 5));
    // Rank 0 sends much data to all ranks: with few ranks on its node, the NIC is busy for long.
    all.push_back(CommGraph::from_rows(ranks, [&](Rank u, const auto& add) {
        if (u.value > 0) add(Edge{Rank{u.value - 1}, Bytes{50}});
        if (u.value > 0) return;
        for (std::uint32_t v = 1; v < ranks; ++v) add(Edge{Rank{v}, Bytes{1'000'000}});
    }));
    return all;
}

}  // namespace

TEST_CASE("auto is never predicted slower than block order, for any automatic objective") {
    Rng rng(1);
    for (const std::string& text : timed_machines) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation whole = Allocation::whole(machine);
        const Allocation some = fragmented_allocation(machine, machine.usable_nodes().size() / 2, 2, 1);
        for (const Allocation& allocation : {whole, some}) {
            for (const CommGraph& graph : random_patterns(allocation.slot_count() - 1, rng)) {
                const Problem plain(graph, allocation, 3, 1);
                const std::span<const Slot> block = allocation.slots().first(graph.rank_count());
                const double slowest = reference_time(graph, machine, block);
                CHECK(plain.time(block) == doctest::Approx(slowest));
                for (const std::string objective : {"hop-bytes", "congestion", "time"}) {
                    CAPTURE(objective);
                    const Problem problem =
                        plain.with_objective(parse_objective(objective), {}, {}).with_automatic_objective();
                    Budget budget;
                    budget.work = 20'000;
                    const Placement found = place(problem, "auto(effort=fast)", budget).placement;
                    if (reference_time(graph, machine, found.slots()) > slowest * rounding)
                        FAIL_CHECK(reference_time(graph, machine, found.slots()), " > ", slowest);
                }
            }
        }
    }
}

TEST_CASE("auto with phases is never predicted slower than block order over all phases") {
    Rng rng(2);
    for (const std::string& text : timed_machines) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const std::size_t ranks = allocation.slot_count() - 2;
        const CommGraph first = random_pattern(ranks, 4 * ranks, rng);
        const CommGraph second = renumber_ranks(ring(ranks, Bytes{100'000}), 3);
        const CommGraph both = random_pattern(ranks, 4 * ranks, rng);
        const auto time = [&](std::span<const Slot> slots) {
            return reference_time(first, machine, slots) + reference_time(second, machine, slots);
        };
        for (const std::string objective : {"congestion", "time"}) {
            CAPTURE(objective);
            const Problem problem = Problem(both, allocation, 3, 1)
                                        .with_objective(parse_objective(objective), {&first, &second}, {})
                                        .with_automatic_objective();
            Budget budget;
            budget.work = 20'000;
            const Placement found = place(problem, "auto(effort=fast)", budget).placement;
            CHECK(time(found.slots()) <= time(allocation.slots().first(ranks)) * rounding);
        }
    }
}

TEST_CASE("auto without search time is never predicted slower than block order") {
    Rng rng(3);
    for (const std::string& text : timed_machines) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const CommGraph& graph : random_patterns(allocation.slot_count(), rng)) {
            const Problem problem = Problem(graph, allocation, 3, 1).with_automatic_objective();
            Budget budget;
            budget.work = 1;
            const Placement found = place(problem, "auto", budget).placement;
            CHECK(problem.time(found.slots()) <= problem.time(allocation.slots()) * rounding);
        }
    }
}

TEST_CASE("a named objective is minimized although the placement is slower than block order") {
    const Machine machine = make_machine("ring:6,rings=2,bandwidth=25.6GB/s");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<std::vector<std::int64_t>> bytes{
        {0, 1, 1000, 868'366}, {1, 0, 1000, 0}, {1000, 1000, 0, 2000}, {868'366, 0, 2000, 0}};
    const CommGraph graph = CommGraph::from_rows(4, [&](Rank u, const auto& add) {
        for (const Rank v : ids<Rank>(4)) {
            if (bytes[u.value][v.value] > 0) add(Edge{v, Bytes{bytes[u.value][v.value]}});
        }
    });
    const Problem named(graph, allocation, 1, 1);
    const PlaceResult best = place(named, "auto");
    CHECK(named.value(best.placement.slots()) == 1'746'738);
    CHECK(best.proven == 1'746'738);
    CHECK_FALSE(best.rejected);
    const PlaceResult guarded = place(named.with_automatic_objective(), "auto");
    CHECK(guarded.proven == 1'746'738);
    REQUIRE(guarded.rejected);
    CHECK(guarded.rejected->reason == Rejection::Reason::slower);
    CHECK(guarded.rejected->value == 1'746'738);
    CHECK(guarded.rejected->kept_value == named.objective_value(guarded.placement.slots()));
    CHECK(guarded.rejected->kept_seconds == named.time(guarded.placement.slots()));
    CHECK(guarded.rejected->kept_seconds < guarded.rejected->seconds);
}

TEST_CASE("improvers for time never return a slower placement than their start") {
    Rng rng(4);
    for (const std::string& text : timed_machines) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const CommGraph& graph : random_patterns(allocation.slot_count() - 1, rng)) {
            const Problem problem =
                Problem(graph, allocation, 3, 1).with_objective(parse_objective("time"), {}, {});
            for (const std::string start : {"block", "mahd"}) {
                const double before = problem.objective_value(place(problem, start).placement.slots());
                for (const std::string improver : {"local-opt", "congestion(sweeps=5)", "rotate"}) {
                    CAPTURE(start);
                    CAPTURE(improver);
                    Budget budget;
                    budget.work = 5'000;
                    const Placement found = place(problem, start + "+" + improver, budget).placement;
                    CHECK(problem.objective_value(found.slots()) <= before);
                }
            }
        }
    }
}
