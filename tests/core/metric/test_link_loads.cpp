// SPDX-License-Identifier: BSD-3-Clause
// Loads under changes: whatever happened before, they are those of the placement that is there now, bit for bit.
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
#include "topoloom/metric/judge.hpp"
#include "topoloom/pattern/stencil.hpp"

using namespace topoloom;

namespace {

CongestionKey slow_key(std::span<const double> loads, const Machine& machine, std::int64_t hop_bytes) {
    CongestionKey key{0, 0, hop_bytes};
    with_topology(machine, [&](const auto& network) {
        for (const Link link : ids<Link>(loads.size()))
            key.congestion = std::max(key.congestion, loads[link.value] / network.bandwidth(link).value);
        for (const Link link : ids<Link>(loads.size())) {
            const double congestion = loads[link.value] / network.bandwidth(link).value;
            key.links_at_maximum += congestion > 0 && congestion == key.congestion ? 1 : 0;
        }
    });
    return key;
}

double slow_soft(std::span<const double> loads, const Machine& machine, double scale) {
    double sum = 0;
    with_topology(machine, [&](const auto& network) {
        for (const Link link : ids<Link>(loads.size()))
            sum += std::min(0x1p20, std::pow(loads[link.value] / network.bandwidth(link).value / scale, 8));
    });
    return sum;
}

bool adapts(const Machine& machine) {
    return with_topology(machine, [](const auto& network) {
        if constexpr (requires { network.adapts(); }) return network.adapts();
        return false;
    });
}

}  // namespace

TEST_CASE("after any changes loads, maximum, hop-bytes and soft value are those of the placement") {
    Rng rng(5);
    for (const std::string& network : machine_texts()) {
        for (const std::string inside : {"", "+node:2,distance=3:7"}) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            const std::size_t ranks =
                1 + rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(40, whole.slot_count())));
            const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
            RandomChanges changes(whole, ranks, rng);
            with_link_loads(machine, graph, changes.slots, {}, [&](auto& loads) {
                const double scale = std::max(1.0, loads.key().congestion / 2);
                loads.set_soft_scale(scale);
                for (int round = 0; round < 12; ++round) {
                    for (int i = 0; i < 4; ++i) changes.make(loads, rng);
                    const Placement placement(whole, changes.slots);
                    const std::vector<double> slow = slow_loads(graph, machine, changes.slots);
                    const BigVector<double> now = loads.loads();
                    const Judgement judgement = judge(graph, machine, placement, 1);
                    if (!adapts(machine)) CHECK(now == judgement.loads);
                    CHECK(std::ranges::equal(now, slow, [](double a, double b) {
                        return std::abs(a - b) <= 1e-12 * b;  // a fat tree sums up, then divides
                    }));
                    CHECK(loads.key() == slow_key(now, machine, judgement.hop_bytes));
                    CHECK(static_cast<double>(loads.soft()) / 0x1p20 ==
                          doctest::Approx(slow_soft(now, machine, scale)).epsilon(0.001));
                    with_link_loads(machine, graph, changes.slots, {}, [&](auto& fresh) {
                        fresh.set_soft_scale(scale);
                        CHECK(fresh.soft() == loads.soft());
                    });
                }
            });
        }
    }
}

TEST_CASE("other traffic on a link counts in every maximum") {
    for (const std::string text : {"torus:4", "fattree:2:3,up=3:1,routing=random"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const std::vector<Slot> slots{Slot{0}, Slot{1}};
        const CommGraph graph =
            CommGraph::from_edges(2, std::array{Rank{0}}, std::array{Rank{1}}, std::array{Bytes{30}});
        std::vector<double> background(machine.link_count(), 0.0);
        background.back() = 25;  // no message crosses it
        with_link_loads(machine, graph, slots, background, [&](auto& loads) {
            CHECK(loads.load(Link{machine.link_count() - 1}) == 25);
            CHECK(loads.key().congestion == (text == "torus:4" ? 30 : 25));
            loads.move(Rank{1}, Slot{0});
            CHECK(loads.key() == CongestionKey{25, 1, 0});
            loads.undo();
        });
        background.pop_back();
        CHECK_THROWS_WITH_AS(with_link_loads(machine, graph, slots, background, [](auto&) {}),
                             doctest::Contains("the background speaks of"), Error);
    }
}
