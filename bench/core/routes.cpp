// SPDX-License-Identifier: BSD-3-Clause
// Times hops and routes between random nodes of every kind of network: nanoseconds per distance, and per link of a
// route. Also the seconds to compute all distances of an irregular network.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"

using namespace topoloom;

namespace {

constexpr std::array machines{
    "torus:16x16x16",
    "tree:16:16:16",
    "fattree:16:16:16",
    "fattree:18:18:36,up=1:18:18",
    "fattree:24:36,up=1:6,parallel=1:2",
    "fattree:4:4:4:4:4:4",
    "fattree:16:16:16,routing=s-mod-k",
    "fattree:16:16:16,routing=random",
    "hyperx:16x16x16",
    "hyperx:9x9x9,nodes=9",
    "hypercube:20",
    "ring:12",
    "twisted:8x8x16,twist.x=0:0:8,twist.y=0:0:8",
    "rails:8:32:4",
    "dragonfly:33x8,nodes=4",
    "dragonfly:80x32,nodes=4,global=16",
    "dragonfly:34x6x16,nodes=4,global=10",
    "dragonfly:33x8,nodes=4,routing=valiant",
};

/// Draws few pairs, so that they stay in the cache.
template <class T>
std::vector<std::pair<Node, Node>> random_pairs(const T& topology) {
    Rng rng(1);
    const auto nodes = static_cast<std::uint32_t>(topology.node_count());
    std::vector<std::pair<Node, Node>> pairs;
    for (int i = 0; i < 1024; ++i) pairs.emplace_back(rng.below(nodes), rng.below(nodes));
    return pairs;
}

/// Time per item, printed as 3.1n for 3.1 ns.
void time_per_item(benchmark::State& state, std::size_t items, const char* what) {
    state.counters[what] = benchmark::Counter(static_cast<double>(items),
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void hops(benchmark::State& state) {
    const char* const text = machines[static_cast<std::size_t>(state.range(0))];
    const Machine machine = make_machine(text);
    state.SetLabel(text);
    with_topology(machine, [&]<class T>(const T& topology) {
        std::vector<std::pair<typename T::Point, typename T::Point>> points;
        for (const auto& [a, b] : random_pairs(topology))
            points.emplace_back(topology.point(a), topology.point(b));
        std::size_t distances = 0;
        for (auto _ : state) {
            std::uint32_t sum = 0;
            for (const auto& [a, b] : points) sum += topology.hops(a, b);
            benchmark::DoNotOptimize(sum);
            distances += points.size();
        }
        time_per_item(state, distances, "seconds/distance");
    });
}

void route(benchmark::State& state) {
    const char* const text = machines[static_cast<std::size_t>(state.range(0))];
    const Machine machine = make_machine(text);
    state.SetLabel(text);
    with_topology(machine, [&](const auto& topology) {
        const auto pairs = random_pairs(topology);
        std::size_t links = 0;
        for (auto _ : state) {
            std::uint32_t sum = 0;
            for (const auto& [a, b] : pairs) {
                topology.route(a, b, [&](Link link, double) {
                    sum += link.value;
                    ++links;
                });
            }
            benchmark::DoNotOptimize(sum);
        }
        time_per_item(state, links, "seconds/link");
    });
}

/// Switches with 18 random cables and two nodes each.
ExplicitGraphSpec irregular(std::uint32_t switches) {
    Rng rng(1);
    ExplicitGraphSpec spec;
    spec.nodes = 2 * switches;
    spec.switches = switches;
    std::set<std::pair<std::uint32_t, std::uint32_t>> cables;
    for (std::uint32_t s = 0; s < switches; ++s) {
        for (std::uint32_t i = 0, other = (s + 1) % switches; i < 9; ++i, other = rng.below(switches)) {
            if (other != s) cables.insert(std::minmax(s, other));
        }
    }
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
        spec.links.push_back({a, b});
        spec.links.push_back({b, a});
    };
    for (const auto& [a, b] : cables) join(spec.nodes + a, spec.nodes + b);
    for (std::uint32_t node = 0; node < spec.nodes; ++node) join(node, spec.nodes + node / 2);
    return spec;
}

void irregular_distances(benchmark::State& state) {
    const ExplicitGraphSpec spec = irregular(static_cast<std::uint32_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(ExplicitGraph(spec).diameter());
}

BENCHMARK(irregular_distances)
    ->ArgName("switches")
    ->Arg(20'000)
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);

/// Minimum of many short runs, to exclude the effect of other processes.
void min_of_all_machines(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("machine")
        ->DenseRange(0, std::ssize(machines) - 1)
        ->MinTime(0.02)
        ->Repetitions(25)
        ->ComputeStatistics("least", [](const std::vector<double>& all) { return std::ranges::min(all); })
        ->DisplayAggregatesOnly();
}
BENCHMARK(hops)->Apply(min_of_all_machines);
BENCHMARK(route)->Apply(min_of_all_machines);

}  // namespace
