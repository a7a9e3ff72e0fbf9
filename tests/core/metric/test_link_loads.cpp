// SPDX-License-Identifier: BSD-3-Clause
// Incremental link loads equal recomputed loads bit for bit.
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
#include "topoloom/metric/judge.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

CongestionKey reference_key(std::span<const double> loads, const Machine& machine, std::int64_t hop_bytes) {
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

double reference_soft(std::span<const double> loads, const Machine& machine, double scale) {
    double sum = 0;
    with_topology(machine, [&](const auto& network) {
        for (const Link link : ids<Link>(loads.size()))
            sum += std::min(0x1p20, std::pow(loads[link.value] / network.bandwidth(link).value / scale, 8));
    });
    return sum;
}

/// For each rank, whether it uses the busiest link, port or memory.
std::vector<char> ranks_on_busiest_links(const CommGraph& graph, const Machine& machine,
                                         std::span<const Slot> slots, std::span<const double> seconds) {
    const double least = std::ranges::max(seconds) * (1 - 1e-12);
    std::vector<char> is_busy(graph.rank_count(), 0);
    const auto of_nodes = seconds.subspan(machine.link_count());
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            if (edge.bytes.value == 0 || least == 0) continue;
            const Node from = machine.node(slots[u.value]);
            const Node to = machine.node(slots[edge.peer.value]);
            const std::size_t nodes = machine.node_count();
            bool busy = std::max(of_nodes[2 * nodes + from.value], of_nodes[3 * nodes + to.value]) >= least;
            if (from != to)
                busy = busy || std::max(of_nodes[from.value], of_nodes[nodes + to.value]) >= least;
            with_topology(machine, [&](const auto& network) {
                if (from == to) return;
                network.route(from, to,
                              [&](Link link, double) { busy = busy || seconds[link.value] >= least; });
            });
            if (busy) is_busy[u.value] = is_busy[edge.peer.value] = 1;
        }
    }
    return is_busy;
}

bool has_adaptive_routing(const Machine& machine) {
    return with_topology(machine, [](const auto& network) {
        if constexpr (requires { network.is_adaptive(); }) return network.is_adaptive();
        return false;
    });
}

}  // namespace

TEST_CASE(
    "after any changes, loads, maximum, hop-bytes and soft value equal those recomputed from the placement") {
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
            LinkLoads loads(machine, graph, changes.slots);
            const double scale = std::max(1.0, loads.key().congestion / 2);
            loads.set_soft_scale(scale);
            for (int round = 0; round < 12; ++round) {
                for (int i = 0; i < 4; ++i) changes.make_random_change(loads, rng);
                const Placement placement(whole, changes.slots);
                const std::vector<double> slow = reference_loads(graph, machine, changes.slots);
                const BigVector<double> now = loads.loads();
                const Judgement judgement = judge(graph, machine, placement, 1);
                if (!has_adaptive_routing(machine)) CHECK(now == judgement.loads);
                CHECK(std::ranges::equal(now, slow, [](double a, double b) {
                    return std::abs(a - b) <= 1e-12 * b;  // fat trees add up loads before they divide
                }));
                CHECK(loads.key() == reference_key(now, machine, judgement.hop_bytes));
                CHECK(static_cast<double>(loads.soft_value()) / 0x1p20 ==
                      doctest::Approx(reference_soft(now, machine, scale)).epsilon(0.001));
                LinkLoads fresh(machine, graph, changes.slots);
                fresh.set_soft_scale(scale);
                CHECK(fresh.soft_value() == loads.soft_value());
            }
        }
    }
}

TEST_CASE("after any changes, loads of ports and memories equal recomputed ones, as those of links do") {
    Rng rng(6);
    for (const std::string& network : machine_texts()) {
        for (const std::string inside : {"+node:2,bandwidth=300MB/s", "+node:2:2,memory=100MB/s,port=0:1",
                                         "+node:3,bandwidth=2GB/s,memory=3GB/s,startup=1us"}) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            const std::size_t ranks =
                1 + rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(40, whole.slot_count())));
            const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
            RandomChanges changes(whole, ranks, rng);
            LinkLoads loads(machine, graph, changes.slots, {}, LoadScope::links_and_nodes);
            const double busiest = loads.key().congestion;
            const double scale = busiest > 0 ? busiest / 2 : 1;
            loads.set_soft_scale(scale);
            for (int round = 0; round < 6; ++round) {
                for (int i = 0; i < 4; ++i) changes.make_random_change(loads, rng);
                std::vector<double> seconds = reference_congestion(graph, machine, changes.slots);
                for (const double more : reference_node_seconds(graph, machine, changes.slots))
                    seconds.push_back(more);
                const double most = std::ranges::max(seconds);
                const CongestionKey key = loads.key();
                CHECK(key.congestion == doctest::Approx(most).epsilon(1e-12));
                CHECK(key.links_at_maximum == std::ranges::count_if(seconds, [&](double s) {
                          return s > 0 && s >= most * (1 - 1e-12);
                      }));
                CHECK(key.hop_bytes == hop_bytes(graph, machine, changes.slots, 1));
                double soft = 0;
                for (const double s : seconds) soft += std::min(0x1p20, std::pow(s / scale, 8));
                CHECK(static_cast<double>(loads.soft_value()) / 0x1p20 ==
                      doctest::Approx(soft).epsilon(0.001));
                const std::vector<char> at_most =
                    ranks_on_busiest_links(graph, machine, changes.slots, seconds);
                for (const Rank u : ids<Rank>(ranks)) {
                    if (loads.is_on_busiest_link(u) != (at_most[u.value] != 0)) FAIL_CHECK("rank ", u.value);
                }
                CHECK(loads.ranks_on_busy_links(1).size() ==
                      static_cast<std::size_t>(std::ranges::count(at_most, 1)));
                LinkLoads fresh(machine, graph, changes.slots, {}, LoadScope::links_and_nodes);
                fresh.set_soft_scale(scale);
                CHECK(fresh.soft_value() == loads.soft_value());
                CHECK(fresh.key() == key);
            }
        }
    }
}

TEST_CASE("a host link has the bandwidth of the node's NICs and carries all inter-node traffic") {
    const CommGraph graph = CommGraph::from_edges(
        4, std::vector(3, Rank{0}), std::array{Rank{1}, Rank{2}, Rank{3}}, std::vector(3, Bytes{120}));
    const auto congestion = [&](const std::string& text) {
        const ids<Slot> slots(4);
        return congestion_key(graph, make_machine(text), std::vector<Slot>(slots.begin(), slots.end()))
            .congestion;
    };
    CHECK(congestion("hyperx:4") == 360);
    CHECK(congestion("hyperx:4,cards=2") == 180);
    CHECK(congestion("hyperx:4,cards=4") == 120);
    CHECK(congestion("hyperx:4,hosts=free") == 120);
    CHECK(congestion("hyperx:2,nodes=2,hosts=free") == 240);
    CHECK(congestion("hyperx:2,nodes=2,bandwidth.host=double") == 240);
    CHECK(congestion("dragonfly:1x4,cards=4,bandwidth.host=half") == 180);
    CHECK(congestion("torus:4,cards=1") == 360);
    CHECK(congestion("torus:4") == 240);  // two of the three messages take the same direction
}

TEST_CASE("background traffic on a link counts in the maximum after every change") {
    for (const std::string text : {"torus:4", "fattree:2:3,up=3:1,routing=random"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const std::vector<Slot> slots{Slot{0}, Slot{1}};
        const CommGraph graph =
            CommGraph::from_edges(2, std::array{Rank{0}}, std::array{Rank{1}}, std::array{Bytes{30}});
        std::vector<double> background(machine.link_count(), 0.0);
        background.back() = 25;  // no message crosses it
        LinkLoads loads(machine, graph, slots, background);
        CHECK(loads.load(Link{machine.link_count() - 1}) == 25);
        CHECK(loads.key().congestion == (text == "torus:4" ? 30 : 25));
        loads.move(Rank{1}, Slot{0});
        CHECK(loads.key() == CongestionKey{25, 1, 0});
        loads.undo();
        background.pop_back();
        CHECK_THROWS_WITH_AS(LinkLoads(machine, graph, slots, background),
                             doctest::Contains("the background has"), Error);
    }
}
