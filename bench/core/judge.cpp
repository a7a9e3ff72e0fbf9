// SPDX-License-Identifier: BSD-3-Clause
// Times the evaluation of a placement of a million ranks with 26 neighbors each on a 100x100x100 torus, and compares it
// with one pass over the graph.
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

const Case& get_case() {
    static const Case one;
    return one;
}

Placement make_placement(bool random) {
    const auto all = get_case().allocation.slots();
    std::vector<Slot> slots(all.begin(), all.end());
    if (random) Rng(1).shuffle(std::span<Slot>(slots));
    return {get_case().allocation, std::move(slots)};
}

void set_message_rate(benchmark::State& state) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(get_case().graph.edge_count()));
}

/// Lower limit of the time for hop-bytes: read peers and bytes of every edge once.
void time_graph_read(benchmark::State& state) {
    const CommGraph& graph = get_case().graph;
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
    set_message_rate(state);
}

void time_hop_bytes(benchmark::State& state) {
    const Placement where = make_placement(state.range(0) != 0);
    for (auto _ : state)
        benchmark::DoNotOptimize(hop_bytes(get_case().graph, get_case().machine, where.slots()));
    set_message_rate(state);
}

void time_all_metrics(benchmark::State& state) {
    const Placement where = make_placement(state.range(0) != 0);
    for (auto _ : state)
        benchmark::DoNotOptimize(judge(get_case().graph, get_case().machine, where).hop_bytes);
    set_message_rate(state);
}

BENCHMARK(time_graph_read)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(time_hop_bytes)->ArgName("random")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(time_all_metrics)
    ->ArgName("random")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(7)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
