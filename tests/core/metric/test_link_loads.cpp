// SPDX-License-Identifier: BSD-3-Clause
// Loads under changes: whatever happened before, they are those of the placement that is there now, bit for bit.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "machine/machines.hpp"
#include "metric/random_problem.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/metric/link_loads.hpp"
#include "topoloom/pattern/stencil.hpp"

using namespace topoloom;

namespace {

/// Of all messages over minimal routes, in no hurry.
std::vector<double> slow_loads(const CommGraph& graph, const Machine& machine, std::span<const Slot> slots) {
    const Grain grain(graph.total_bytes());
    std::vector<double> loads(machine.link_count());
    with_topology(machine, [&](const auto& network) {
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                const Node from = machine.node(slots[u.value]);
                const Node to = machine.node(slots[edge.peer.value]);
                if (from == to) continue;
                network.route(from, to, [&](Link link, double share) {
                    loads[link.value] += grain.round(static_cast<double>(edge.bytes.value) * share);
                });
            }
        }
    });
    return loads;
}

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

/// Ranks on slots, and what was done to them.
struct Changes {
    std::vector<Slot> slots;
    std::vector<Slot> free;
    std::vector<Slot> before;
    std::vector<Slot> free_before;

    /// Any change, by the functions that make it always or if it is better.
    template <class Loads>
    void make(Loads& loads, Rng& rng) {
        const auto some = [&](std::size_t count) { return rng.below(static_cast<std::uint32_t>(count)); };
        before = slots;
        free_before = free;
        const Rank u{some(slots.size())};
        const Rank v{some(slots.size())};
        const bool always = rng.below(2) == 0;
        bool made = true;
        if (!free.empty() && rng.below(2) == 0) {
            Slot& to = free[some(free.size())];
            always ? loads.move(u, to) : void(made = loads.move_if_better(u, to));
            if (made) std::swap(slots[u.value], to);
        } else if (u != v) {
            always ? loads.exchange(u, v) : void(made = loads.exchange_if_better(u, v));
            if (made) std::swap(slots[u.value], slots[v.value]);
        } else {
            return;
        }
        if (made && rng.below(3) == 0) {
            loads.undo();
            slots = before;
            free = free_before;
        }
    }
};

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
            Changes changes;
            changes.free.assign(whole.slots().begin(), whole.slots().end());
            rng.shuffle(std::span(changes.free));
            const auto placed = changes.free.begin() + static_cast<std::ptrdiff_t>(ranks);
            changes.slots.assign(changes.free.begin(), placed);
            changes.free.erase(changes.free.begin(), placed);
            with_link_loads(machine, graph, changes.slots, {}, [&]<class Loads>(Loads& loads) {
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
                    Loads fresh(std::get<typename Loads::Network>(machine.topology()), machine, graph,
                                changes.slots);
                    fresh.set_soft_scale(scale);
                    CHECK(fresh.soft() == loads.soft());
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
