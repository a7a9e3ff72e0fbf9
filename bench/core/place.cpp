// SPDX-License-Identifier: BSD-3-Clause
// Mappers on 7-point stencils: time, hops per byte, and rank exchanges evaluated per second on one core.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// A cube of side^3 ranks on a torus of the same shape.
void run(benchmark::State& state, const char* chain) {
    const auto side = static_cast<std::uint32_t>(state.range(0));
    const std::string extent = std::to_string(side);
    const Machine machine = make_machine("torus:" + extent + "x" + extent + "x" + extent);
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {side, true}), StencilShape::star, Bytes{1024});
    std::uint64_t work = 0;
    double hops_per_byte = 0;
    for (auto _ : state) {
        const Problem problem(graph, allocation, 1, 1);
        const PlaceResult result = place(problem, chain);
        work += result.work;
        state.PauseTiming();
        hops_per_byte = static_cast<double>(hop_bytes(graph, machine, result.placement.slots())) /
                        static_cast<double>(graph.total_bytes().value);
        state.ResumeTiming();
    }
    state.counters["hops_per_byte"] = hops_per_byte;
    state.counters["work_rate"] = benchmark::Counter(static_cast<double>(work), benchmark::Counter::kIsRate);
}

/// A grid of ranks; several ranks can share a slot.
void run_grid(benchmark::State& state, const std::vector<GridAxis>& axes, const Allocation& allocation,
              const char* chain) {
    const Machine& machine = allocation.machine();
    const CommGraph graph = stencil(axes, StencilShape::star, Bytes{1024});
    double hops_per_byte = 0;
    for (auto _ : state) {
        const Problem problem(graph, allocation, 1, 1, {.imbalance = 0.3});
        const PlaceResult result = place(problem, chain);
        state.PauseTiming();
        hops_per_byte = static_cast<double>(hop_bytes(graph, machine, result.placement.slots())) /
                        static_cast<double>(graph.total_bytes().value);
        state.ResumeTiming();
    }
    state.counters["hops_per_byte"] = hops_per_byte;
}

void run_fold(benchmark::State& state, const std::vector<GridAxis>& axes, const char* machine_text,
              const char* chain) {
    const Machine machine = make_machine(machine_text);
    run_grid(state, axes, Allocation::whole(machine), chain);
}

/// A million ranks on a torus of nodes with 8 slots; other jobs use a fifth of the nodes, in fragments.
void run_ragged(benchmark::State& state, const char* chain) {
    const Machine machine = make_machine("torus:54x54x54+node:8");
    const std::vector<GridAxis> axes(3, {100, true});
    run_grid(state, axes, fragmented_allocation(machine, 125'000, 100, 1), chain);
}

// 16^3 = 4,096 ranks; 41^3 = 68,921 approximates 65,536.
BENCHMARK_CAPTURE(run, gge, "gge")->Arg(16)->Arg(41)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, mahd, "mahd")->Arg(16)->Arg(41)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, hilbert, "hilbert")->Arg(16)->Arg(41)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, random_swap, "random+swap")->Arg(16)->Arg(24)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, mahd_swap, "mahd+swap")->Arg(16)->Arg(41)->Unit(benchmark::kMillisecond);
// A million ranks: one per slot, and with shared slots.
const std::vector<GridAxis> cube(3, {100, true});
const std::vector<GridAxis> plane(2, {1000, true});
BENCHMARK_CAPTURE(run_fold, fold_cube, cube, "torus:100x100x100", "fold(grid=100x100x100)")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_fold, fold_plane, plane, "torus:100x100x100", "fold(grid=1000x1000)")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_fold, fold_objects, cube, "torus:16x16x16+node:4", "fold(grid=100x100x100)")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_fold, fold_tree, cube, "tree:32:32:16,distance=1:10:100", "fold(grid=100x100x100)")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_fold, hilbert_grid, cube, "torus:100x100x100", "hilbert(grid=100x100x100)")
    ->Unit(benchmark::kMillisecond);
// 9,200 ranks on 587,264 slots of a dragonfly, as if all of Frontier were free.
const std::vector<GridAxis> few{{20, true}, {20, true}, {23, true}};
const char* const large = "dragonfly:74x32,nodes=4,global=10+node:62";
BENCHMARK_CAPTURE(run_fold, mahd_few_ranks, few, large, "mahd")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_fold, swap_few_ranks, few, large, "block+swap")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_ragged, fold, "fold(grid=100x100x100)")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_ragged, tile, "tile(grid=100x100x100)")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_ragged, hilbert, "hilbert(grid=100x100x100)")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_ragged, snake, "snake(grid=100x100x100)")->Unit(benchmark::kMillisecond);

}  // namespace
