// SPDX-License-Identifier: BSD-3-Clause
// Incremental objectives equal their definitions on the current placement.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "metric/congestion_key.hpp"
#include "metric/random_changes.hpp"
#include "metric/random_problem.hpp"
#include "metric/reference_time.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/problem.hpp"

using namespace topoloom;

namespace {

double reference_norm(std::span<const double> seconds) {
    double sum = 0;
    for (const double s : seconds) sum += std::pow(s, 8);
    return std::pow(sum, 1.0 / 8);
}

/// Insides of nodes: none, and two with low bandwidths or high startup costs.
const std::vector<std::string> insides{
    "", "+node:2,bandwidth=300MB/s,startup=10us",
    "+node:2:2,bandwidth=2GB/s,memory=100MB/s,memory-startup=30us,startup=90us,latency=50us"};

}  // namespace

TEST_CASE("after any changes, every objective equals its definition over all phases") {
    Rng rng(7);
    for (const std::string& network : machine_texts()) {
        for (const std::string& inside : insides) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            const std::size_t ranks =
                1 + rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(20, whole.slot_count())));
            const CommGraph first = random_pattern(ranks, 2 * ranks, rng);
            const CommGraph second = random_pattern(ranks, 2 * ranks, rng);
            std::vector<double> background;
            if (inside.empty()) {
                for (std::size_t i = 0; i < machine.link_count(); ++i)
                    background.push_back(rng.below(100'000));
            }
            const std::string name =
                rng.below(3) == 0 ? "time" : "weighted(hop-bytes=1,congestion=2,congestion-soft=3,time=4)";
            CAPTURE(name);
            const PhasedObjective objective{
                .mix = parse_objective(name), .phases = {&first, &second}, .background = background};
            RandomChanges changes(whole, ranks, rng);
            ObjectiveLoads loads(machine, objective, changes.slots);
            for (int round = 0; round < 4; ++round) {
                for (int i = 0; i < 4; ++i) changes.make_random_change(loads, rng);
                loads.set_soft_scale();
                std::array<double, 4> slow{};
                for (const CommGraph* phase : objective.phases) {
                    const std::vector<double> seconds =
                        reference_congestion(*phase, machine, changes.slots, background);
                    slow[0] += static_cast<double>(hop_bytes(*phase, machine, changes.slots, 1));
                    slow[1] += seconds.empty() ? 0 : std::ranges::max(seconds);
                    slow[2] += reference_norm(seconds);
                    slow[3] += reference_time(*phase, machine, changes.slots, background);
                }
                const std::array<double, 4> now = loads.measures();
                CHECK(now[0] == slow[0]);
                if (name != "time") {
                    CHECK(now[1] == doctest::Approx(slow[1]));
                    CHECK(now[2] == doctest::Approx(slow[2]).epsilon(0.001));
                }
                CHECK(now[3] == doctest::Approx(slow[3]));
                double value = 0;
                for (std::size_t kind = 0; kind < now.size(); ++kind)
                    value += objective.mix.weight[kind] * now[kind];
                CHECK(loads.key().congestion == doctest::Approx(value));
                // Bitwise equal after any history.
                ObjectiveLoads fresh(machine, objective, changes.slots);
                fresh.set_soft_scale();
                CHECK(fresh.measures() == now);
                CHECK(fresh.key() == loads.key());
                CHECK(fresh.soft_value() == loads.soft_value());
            }
        }
    }
}

TEST_CASE("undoing a change restores the value of every objective") {
    Rng rng(8);
    for (const std::string network :
         {"torus:4x3,nodes=2,bandwidth=1GB/s,latency=1us", "dragonfly:5x4,nodes=2,cards=4,bandwidth=25GB/s",
          "hyperx:3x4,nodes=2,bandwidth=3GB/s,latency=700ns+down:0-4,9", "rails:2:2:2,bandwidth=7GB/s"}) {
        for (const std::string& inside : insides) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            const std::size_t ranks = whole.slot_count() - 1;
            const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
            const PhasedObjective objective{.mix = parse_objective("weighted(hop-bytes=1,time=4)"),
                                            .phases = {&graph}};
            const RandomChanges start(whole, ranks, rng);
            ObjectiveLoads loads(machine, objective, start.slots);
            loads.set_soft_scale();
            const auto before = loads.measures();
            const CongestionKey key = loads.key();
            const std::int64_t soft = loads.soft_value();
            for (int i = 0; i < 30; ++i) {
                const Rank u{rng.below(static_cast<std::uint32_t>(ranks - 1))};
                if (i % 2 == 0) {
                    loads.exchange(u, Rank{u.value + 1});
                } else {
                    loads.move(u, start.free.front());
                }
                loads.undo();
                CHECK(loads.measures() == before);
                CHECK(loads.key() == key);
                CHECK(loads.soft_value() == soft);
            }
        }
    }
}

TEST_CASE(
    "objective_key(), Problem::time() and total_and_busiest_times() give the reference time of a phase") {
    Rng rng(9);
    for (const std::string network :
         {"torus:4x3,nodes=2,bandwidth=1GB/s,latency=1us",
          "dragonfly:5x4,nodes=2,cards=2,bandwidth=5GB/s,latency=1us,latency.host=200ns",
          "hyperx:3x4,bandwidth=3GB/s", "fattree:4:4,bandwidth=3GB/s,latency=300ns",
          "tree:12,bandwidth=3GB/s"}) {
        for (const std::string& inside : insides) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            const CommGraph graph = random_pattern(12, 40, rng);
            const std::vector<Slot> slots = RandomChanges(whole, 12, rng).slots;
            const PhasedObjective objective{.mix = parse_objective("time"), .phases = {&graph}};
            const auto expected = doctest::Approx(reference_time(graph, machine, slots));
            CHECK(objective_key(machine, objective, slots).congestion == expected);
            CHECK(Problem(graph, whole).time(slots) == expected);
            const TotalAndBusiestTimes parts = total_and_busiest_times(machine, objective, slots);
            CHECK(parts.all == expected);
            CHECK(parts.busy == doctest::Approx(reference_time_parts(graph, machine, slots).busy));
        }
    }
}

TEST_CASE("the time of a phase equals a value computed by hand") {
    // Two routers, each with two nodes of two slots.
    const Machine machine = make_machine(
        "mesh:2,nodes=2,bandwidth=1GB/s,latency=10us,bandwidth.host=2GB/s,latency.host=1us"
        "+node:2,bandwidth=4GB/s,startup=3us,latency=5us,memory=8GB/s,memory-startup=2us");
    const auto time = [&](std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::int64_t messages) {
        const CommGraph graph = CommGraph::from_edges(2, std::array{Rank{0}}, std::array{Rank{1}},
                                                      std::array{Bytes{bytes}}, std::array{messages});
        const PhasedObjective objective{.mix = parse_objective("time"), .phases = {&graph}};
        return 1e6 * objective_key(machine, objective, std::vector{Slot{from}, Slot{to}}).congestion;
    };
    CHECK(time(0, 1, 80'000, 1) == doctest::Approx(2 + 10));           // inside the node
    CHECK(time(0, 2, 80'000, 1) == doctest::Approx(5 + 2 + 3 + 40));   // up to the router and down again
    CHECK(time(0, 4, 80'000, 1) == doctest::Approx(5 + 12 + 3 + 80));  // to the next router
    CHECK(time(0, 4, 80'000, 4) == doctest::Approx(4 * (5 + 12 + 3) + 80));
    CHECK(time(0, 4, 0, 0) == 0);
    CHECK(time(0, 4, 80'000, 0) == doctest::Approx(80));
}

TEST_CASE("the time of a sender is at least the sum of its startups") {
    const Machine machine = make_machine("tree:8,bandwidth=1GB/s+node:1,startup=3us,latency=5us");
    std::vector<Rank> peers;
    for (std::uint32_t v = 1; v < 8; ++v) peers.emplace_back(v);
    const CommGraph graph =
        CommGraph::from_edges(8, std::vector<Rank>(7, Rank{0}), peers, std::vector<Bytes>(7, Bytes{1000}));
    const ids<Slot> slots(8);
    const PhasedObjective objective{.mix = parse_objective("time"), .phases = {&graph}};
    const double seconds =
        objective_key(machine, objective, std::vector<Slot>(slots.begin(), slots.end())).congestion;
    CHECK(seconds == doctest::Approx(5e-6 + 7 * 3e-6));  // and not 3 us plus the 7 us of its link
}

TEST_CASE("searches for time track startups unless latency-bound rounds take little time") {
    const Machine machine = make_machine("mesh:3,bandwidth=1GB/s,latency=1us+node:1,startup=1us");
    const std::vector<Slot> slots{Slot{0}, Slot{1}, Slot{2}};
    const auto is_tracked = [&](std::int64_t bytes) {
        // Rank 2 sends one message more than rank 0: that is a round of its own, and latency-bound.
        const CommGraph graph = CommGraph::from_edges(
            3, std::array{Rank{0}, Rank{2}}, std::array{Rank{1}, Rank{0}},
            std::array{Bytes{20 * bytes}, Bytes{21 * 8}}, std::array{std::int64_t{20}, std::int64_t{21}});
        const PhasedObjective objective{.mix = parse_objective("time"), .phases = {&graph}};
        const auto tracker = make_search_tracker(machine, objective, slots);
        const bool is_exact = dynamic_cast<ObjectiveLoads*>(tracker.get()) != nullptr;
        CHECK(is_exact == (ObjectiveLoads(machine, objective, slots).latency_bound_share() >= 0.1));
        return is_exact;
    };
    CHECK(is_tracked(8));
    CHECK_FALSE(is_tracked(1'000'000));
}

TEST_CASE("without background, an objective of one phase equals the one computed from link loads") {
    const Machine machine = make_machine("torus:4x4");
    Rng rng(3);
    const CommGraph graph = random_pattern(16, 60, rng);
    const std::vector<Slot> slots = RandomChanges(Allocation::whole(machine), 16, rng).slots;
    const PhasedObjective objective{.mix = parse_objective("congestion"), .phases = {&graph}};
    CHECK(objective_key(machine, objective, slots) == congestion_key(graph, machine, slots));
    CHECK(objective_values(machine, objective, slots)[1] == congestion_key(graph, machine, slots).congestion);
}

TEST_CASE("objectives are parsed, and errors name the part that is invalid") {
    CHECK(parse_objective("time").is(ObjectiveKind::time));
    CHECK_FALSE(parse_objective("weighted(time=1)").is(ObjectiveKind::time));
    const Objective mix = parse_objective("weighted(hop-bytes=1,congestion=2.5)");
    CHECK(mix.of(ObjectiveKind::hop_bytes) == 1);
    CHECK(mix.of(ObjectiveKind::congestion) == 2.5);
    CHECK(mix.of(ObjectiveKind::time) == 0);
    CHECK_THROWS_WITH_AS((void)parse_objective("congestoin"), doctest::Contains("congestion"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time=1"), doctest::Contains("')'"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time)"), doctest::Contains("NAME=WEIGHT"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time=0)"), doctest::Contains("above 0"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time=1,time=2)"), doctest::Contains("twice"), Error);
}
