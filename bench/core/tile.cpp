// SPDX-License-Identifier: BSD-3-Clause
// The mapper tile for a million ranks, once with a named grid and once with a recognized one, on one core.
#include <string>

#include <benchmark/benchmark.h>

#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// A 7-point stencil of 100^3 ranks; each node has the given number of cores.
void run(benchmark::State& state, const char* mapper) {
    const auto cores = static_cast<std::uint32_t>(state.range(0));
    const std::uint32_t nodes = (1'000'000 + cores - 1) / cores;
    const Machine machine = make_machine("tree:" + std::to_string(nodes) + "+node:" + std::to_string(cores));
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {100, true}), StencilShape::star, Bytes{1024});
    for (auto _ : state) {
        const Problem problem(graph, allocation, 1, 1);
        benchmark::DoNotOptimize(place(problem, mapper));
    }
    state.counters["ranks"] = benchmark::Counter(1e6, benchmark::Counter::kIsIterationInvariantRate);
}

// 64 = 4x4x4 divides 100^3; 61 and 48 do not.
BENCHMARK_CAPTURE(run, named, "tile(grid=100x100x100)")
    ->Arg(64)
    ->Arg(61)
    ->Arg(48)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, recognized, "tile")->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
