// SPDX-License-Identifier: BSD-3-Clause
// Time and results of bounds and exact searches.
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/bound/bus_affinity.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/dense_bounds.hpp"
#include "topoloom/bound/sparse_bound.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/qap/exact/branch_and_bound.hpp"

using namespace topoloom;

namespace {

CommGraph dense_pattern(std::uint32_t ranks) {
    Rng rng(1);
    std::vector<Rank> from;
    std::vector<Rank> to;
    std::vector<Bytes> bytes;
    for (std::uint32_t u = 0; u < ranks; ++u) {
        for (std::uint32_t v = 0; v < ranks; ++v) {
            if (u == v) continue;
            from.emplace_back(u);
            to.emplace_back(v);
            bytes.emplace_back(rng.below(1 << 20));
        }
    }
    return CommGraph::from_edges(ranks, from, to, bytes);
}

CommGraph make_ring(std::uint32_t threads) {
    return stencil(std::vector<GridAxis>{{threads, true}}, StencilShape::star, Bytes{16384});
}

/// 256 ranks with alltoall messages, on 4 x 8 x 8 nodes.
template <auto bound>
void time_dense_bound(benchmark::State& state) {
    const Machine machine = make_machine("torus:4x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = dense_pattern(256);
    const BoundProblem problem(graph, allocation);
    for (auto _ : state) benchmark::DoNotOptimize(bound(problem));
}
BENCHMARK(time_dense_bound<static_cast<std::int64_t (*)(const BoundProblem&)>(bound::gilmore_lawler_bound)>)
    ->Name("gilmore_lawler/256")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(time_dense_bound<
              static_cast<std::optional<std::int64_t> (*)(const BoundProblem&)>(bound::projection_bound)>)
    ->Name("projection/256")
    ->Unit(benchmark::kMillisecond);

/// A cube of side^3 ranks on a torus of the same shape.
void time_sparse_bound(benchmark::State& state) {
    const auto side = static_cast<std::uint32_t>(state.range(0));
    const std::string extent = std::to_string(side);
    const Machine machine = make_machine("torus:" + extent + "x" + extent + "x" + extent);
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {side, true}), StencilShape::star, Bytes{1024});
    for (auto _ : state) {
        const BoundProblem problem(graph, allocation);
        state.counters["of_optimum"] = static_cast<double>(bound::sparse_bound(problem)) /
                                       static_cast<double>(graph.total_bytes().value);
    }
}
BENCHMARK(time_sparse_bound)->Arg(16)->Arg(46)->Arg(100)->Unit(benchmark::kMillisecond);

void time_cut_bound(benchmark::State& state) {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {8, true}), StencilShape::box, Bytes{1024});
    const BoundProblem problem(graph, allocation);
    for (auto _ : state) {
        Meter meter{Budget{}};
        benchmark::DoNotOptimize(cut_bound(problem, meter));
    }
}
BENCHMARK(time_cut_bound)->Unit(benchmark::kMillisecond);

void time_affinities(benchmark::State& state) {
    const Machine cell = make_machine("ring:12,rings=2");
    const auto& bus = std::get<RingBus>(cell.topology());
    std::vector<Node> station;
    for (const std::uint32_t at : {10U, 1U, 9U, 2U, 8U, 3U, 7U, 4U}) station.emplace_back(at);
    const CommGraph graph = make_ring(8);
    for (auto _ : state) benchmark::DoNotOptimize(rank_bus_affinities(bus, station, graph));
}
BENCHMARK(time_affinities)->Unit(benchmark::kMillisecond);

void time_bipartitions(benchmark::State& state) {
    const CommGraph graph = make_ring(16);
    for (auto _ : state) benchmark::DoNotOptimize(rank_bipartitions(graph));
}
BENCHMARK(time_bipartitions)->Unit(benchmark::kMillisecond);

/// Expresses hop-bytes as a quadratic assignment problem.
qap::QuadraticAssignment make_assignment_problem(const CommGraph& graph, const Allocation& allocation) {
    const auto ranks = static_cast<std::uint32_t>(graph.rank_count());
    std::vector<std::int64_t> bytes(std::size_t{ranks} * ranks, 0);
    for (const Rank u : ids<Rank>(ranks))
        for (const Edge edge : graph.sends(u))
            bytes[std::size_t{u.value} * ranks + edge.peer.value] = edge.bytes.value;
    std::vector<std::int64_t> distances;
    for (const Slot a : allocation.slots())
        for (const Slot b : allocation.slots()) distances.push_back(allocation.machine().distance(a, b));
    return {ranks, static_cast<std::uint32_t>(allocation.slots().size()), std::move(bytes),
            std::move(distances)};
}

/// A random dense pattern on a 3 x 4 mesh: from block order to proven optimality.
void time_exact_search(benchmark::State& state) {
    const Machine machine = make_machine("mesh:3x4");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = dense_pattern(12);
    const qap::QuadraticAssignment problem = make_assignment_problem(graph, allocation);
    const std::vector<Position> start = id_list<Position>(12);
    for (auto _ : state) {
        const Budget budget;
        Meter meter(budget);
        state.counters["nodes"] = static_cast<double>(qap::branch_and_bound(problem, start, meter, 1).nodes);
    }
}
BENCHMARK(time_exact_search)->Unit(benchmark::kMillisecond);

}  // namespace
