// SPDX-License-Identifier: BSD-3-Clause
// Times the search for contention in permutations on fat trees; target: 10 ms for 4,096 nodes.
#include <array>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/orders/contention.hpp"

using namespace topoloom;

namespace {

constexpr std::array trees{"fattree:4:4:4:4:4:4", "fattree:16:16:16", "fattree:64:64"};

std::vector<NodeMessage> make_permutation(std::size_t nodes, bool random) {
    std::vector<Node> targets(ids<Node>(nodes).begin(), ids<Node>(nodes).end());
    if (random) Rng(1).shuffle(std::span(targets));
    std::vector<NodeMessage> messages;
    for (const Node node : ids<Node>(nodes))
        messages.push_back({node, random ? targets[node.value] : Node{(node.value + 16) % nodes}});
    return messages;
}

void set_label(benchmark::State& state, const char* text) {
    state.SetLabel(std::string(text) + (state.range(1) == 1 ? ", random" : ", shift by 16"));
}

void time_any_ascent(benchmark::State& state) {
    const char* const text = trees[static_cast<std::size_t>(state.range(0))];
    set_label(state, text);
    const Machine machine = make_machine(text);
    AnyUpwardRoutes ascent(std::get<FatTree>(machine.topology()));
    const auto messages = make_permutation(machine.node_count(), state.range(1) == 1);
    for (auto _ : state) benchmark::DoNotOptimize(ascent.meetings(messages).places);
}

void time_on_routes(benchmark::State& state) {
    const char* const text = trees[static_cast<std::size_t>(state.range(0))];
    set_label(state, text);
    const Machine machine = make_machine(text);
    const auto messages = make_permutation(machine.node_count(), state.range(1) == 1);
    for (auto _ : state) benchmark::DoNotOptimize(meetings_on_routes(machine, messages).places);
}

BENCHMARK(time_any_ascent)->ArgsProduct({{0, 1, 2}, {0, 1}})->Unit(benchmark::kMillisecond);
BENCHMARK(time_on_routes)->ArgsProduct({{0, 1, 2}, {0, 1}})->Unit(benchmark::kMillisecond);

}  // namespace
