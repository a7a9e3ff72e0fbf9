// SPDX-License-Identifier: BSD-3-Clause
// Objectives under changes: each is what its definition says of the placement that is there now.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "machine/machines.hpp"
#include "metric/random_changes.hpp"
#include "metric/random_problem.hpp"
#include "metric/with_link_loads.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/objective_loads.hpp"

using namespace topoloom;

namespace {

/// Bytes / bandwidth of every link.
std::vector<double> slow_congestion(const CommGraph& phase, const Machine& machine,
                                    std::span<const Slot> slots, std::span<const double> background) {
    std::vector<double> seconds = slow_loads(phase, machine, slots);
    with_topology(machine, [&](const auto& network) {
        for (const Link link : ids<Link>(seconds.size())) {
            if (!background.empty()) seconds[link.value] += background[link.value];
            seconds[link.value] /= network.bandwidth(link).value;
        }
    });
    return seconds;
}

double slow_norm(std::span<const double> seconds) {
    double sum = 0;
    for (const double s : seconds) sum += std::pow(s, 8);
    return std::pow(sum, 1.0 / 8);
}

/// Of a phase: the longest way, then the larger of link and port.
double slow_time(const CommGraph& phase, const Machine& machine, std::span<const Slot> slots,
                 double busiest) {
    std::vector<double> sent(machine.node_count());
    std::vector<double> received(machine.node_count());
    double longest = 0;
    bool any = false;
    for (const Rank u : ids<Rank>(phase.rank_count())) {
        for (const Edge edge : phase.sends(u)) {
            const Node from = machine.node(slots[u.value]);
            const Node to = machine.node(slots[edge.peer.value]);
            if (from == to || edge.bytes.value == 0) continue;
            any = true;
            sent[from.value] += static_cast<double>(edge.bytes.value);
            received[to.value] += static_cast<double>(edge.bytes.value);
            double way = 0;
            with_topology(machine, [&](const auto& network) {
                network.route(from, to,
                              [&](Link link, double share) { way += share * network.latency(link).value; });
            });
            longest = std::max(longest, way);
        }
    }
    const double port =
        std::max(std::ranges::max(sent), std::ranges::max(received)) / machine.inside().port_bandwidth.value;
    return (any ? machine.inside().startup.value + longest : 0) + std::max(busiest, port);
}

}  // namespace

TEST_CASE("after any changes every objective is what its definition says, in all phases together") {
    Rng rng(7);
    for (const std::string& network : machine_texts()) {
        for (const std::string inside : {"", "+node:2,bandwidth=3B/s,startup=1s"}) {
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
            const Goal goal{
                .objective = parse_objective("weighted(hop-bytes=1;congestion=2;congestion-soft=3;time=4)"),
                .phases = {&first, &second},
                .background = background};
            RandomChanges changes(whole, ranks, rng);
            with_loads(machine, goal, [&](const auto& make) {
                auto loads = make(changes.slots);
                for (int round = 0; round < 4; ++round) {
                    for (int i = 0; i < 4; ++i) changes.make(loads, rng);
                    if constexpr (requires { loads.measures(); }) {
                        loads.set_soft_scale();
                        std::array<double, 4> slow{};
                        for (const CommGraph* phase : goal.phases) {
                            const std::vector<double> seconds =
                                slow_congestion(*phase, machine, changes.slots, background);
                            const double busiest = seconds.empty() ? 0 : std::ranges::max(seconds);
                            slow[0] += static_cast<double>(hop_bytes(*phase, machine, changes.slots, 1));
                            slow[1] += busiest;
                            slow[2] += slow_norm(seconds);
                            slow[3] += slow_time(*phase, machine, changes.slots, busiest);
                        }
                        const std::array<double, 4> now = loads.measures();
                        CHECK(now[0] == slow[0]);
                        CHECK(now[1] == doctest::Approx(slow[1]));
                        CHECK(now[2] == doctest::Approx(slow[2]).epsilon(0.001));
                        CHECK(now[3] == doctest::Approx(slow[3]));
                        CHECK(loads.key().congestion ==
                              doctest::Approx(now[0] + 2 * now[1] + 3 * now[2] + 4 * now[3]));
                        // Whatever happened before, bit for bit.
                        auto fresh = make(changes.slots);
                        fresh.set_soft_scale();
                        CHECK(fresh.measures() == now);
                        CHECK(fresh.key() == loads.key());
                        CHECK(fresh.soft() == loads.soft());
                    }
                }
            });
        }
    }
}

TEST_CASE("an objective in one phase without a background is what link loads say") {
    const Machine machine = make_machine("torus:4x4");
    Rng rng(3);
    const CommGraph graph = random_pattern(16, 60, rng);
    const std::vector<Slot> slots = RandomChanges(Allocation::whole(machine), 16, rng).slots;
    const Goal goal{.objective = parse_objective("congestion"), .phases = {&graph}};
    CHECK(objective_key(machine, goal, slots) == congestion_key(graph, machine, slots));
    CHECK(objective_measures(machine, goal, slots)[1] == congestion_key(graph, machine, slots).congestion);
}

TEST_CASE("objectives are read, and what cannot be read is named") {
    CHECK(parse_objective("time").is(Aim::time));
    CHECK_FALSE(parse_objective("weighted(time=1)").is(Aim::time));
    const Objective mix = parse_objective("weighted(hop-bytes=1;congestion=2.5)");
    CHECK(mix.of(Aim::hop_bytes) == 1);
    CHECK(mix.of(Aim::congestion) == 2.5);
    CHECK(mix.of(Aim::time) == 0);
    CHECK_THROWS_WITH_AS((void)parse_objective("congestoin"), doctest::Contains("congestion"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time=1"), doctest::Contains("')'"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time)"), doctest::Contains("NAME=WEIGHT"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time=0)"), doctest::Contains("above 0"), Error);
    CHECK_THROWS_WITH_AS((void)parse_objective("weighted(time=1;time=2)"), doctest::Contains("twice"), Error);
}
