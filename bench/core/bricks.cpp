// SPDX-License-Identifier: BSD-3-Clause
// The mapper bricks for patches and computes on tori, once with named cells and once with recognized ones, on one core.
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "topoloom/base/option.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/molecular_dynamics.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// Cubes of cells with 100 atoms each on a cubic torus; 15 ranks per cell.
void run(benchmark::State& state, bool named) {
    const auto cells = static_cast<std::uint32_t>(state.range(0));
    const auto side = static_cast<std::uint32_t>(state.range(1));
    const Machine machine = make_machine("torus:" + format_extents({side, side, side}));
    const Allocation allocation = Allocation::whole(machine);
    const std::size_t atoms = std::size_t{100} * cells * cells * cells;
    const CommGraph graph = molecular_dynamics({cells, cells, cells}, atoms, 1);
    const std::string mapper =
        named ? "bricks(cells=" + format_extents({cells, cells, cells}) + ")" : "bricks";
    for (auto _ : state) {
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.3});
        benchmark::DoNotOptimize(place(problem, mapper));
    }
    state.counters["ranks"] = benchmark::Counter(static_cast<double>(graph.rank_count()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void sizes(auto* benchmark) {
    benchmark->Args({12, 16})->Args({20, 24})->Args({40, 40})->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(run, named, true)->Apply([](auto* b) { sizes(b); });
BENCHMARK_CAPTURE(run, recognized, false)->Apply([](auto* b) { sizes(b); });

}  // namespace
