// SPDX-License-Identifier: BSD-3-Clause
// Evaluates a placement of a million ranks with 26 neighbors each on a 100x100x100 torus; compared with one
// pass over the graph.
#include <numeric>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

struct Case {
    Machine machine = make_machine("torus:100x100x100");
    Allocation allocation = Allocation::whole(machine);
    CommGraph graph = stencil(std::vector<GridAxis>(3, {100, true}), StencilShape::box, Bytes{1024});
};

const Case& the_case() {
    static const Case one;
    return one;
}

Placement placement(bool random) {
    const auto all = the_case().allocation.slots();
    std::vector<Slot> slots(all.begin(), all.end());
    if (random) Rng(1).shuffle(std::span<Slot>(slots));
    return {the_case().allocation, std::move(slots)};
}

void messages_per_second(benchmark::State& state) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(the_case().graph.edge_count()));
}

/// Lower limit of the time for hop-bytes: read peers and bytes of every edge once.
void read_graph_once(benchmark::State& state) {
    const CommGraph& graph = the_case().graph;
    for (auto _ : state) {
        const Chunks chunks(graph.edge_count(), 1 << 20);
        benchmark::DoNotOptimize(parallel_sum<std::int64_t>(chunks, 0, [&](Chunk part) {
            std::int64_t sum = 0;
            for (std::size_t i = part.begin; i < part.end; ++i) {
                sum += graph.all_bytes()[i].value ^ static_cast<std::int64_t>(graph.all_peers()[i].value);
            }
            return sum;
        }));
    }
    messages_per_second(state);
}

void only_hop_bytes(benchmark::State& state) {
    const Placement where = placement(state.range(0) != 0);
    for (auto _ : state)
        benchmark::DoNotOptimize(hop_bytes(the_case().graph, the_case().machine, where.slots()));
    messages_per_second(state);
}

void everything(benchmark::State& state) {
    const Placement where = placement(state.range(0) != 0);
    for (auto _ : state)
        benchmark::DoNotOptimize(judge(the_case().graph, the_case().machine, where).hop_bytes);
    messages_per_second(state);
}

BENCHMARK(read_graph_once)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(only_hop_bytes)->ArgName("random")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(everything)
    ->ArgName("random")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(7)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
