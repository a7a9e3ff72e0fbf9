// SPDX-License-Identifier: BSD-3-Clause
// For every schedule, on one core: messages enumerated per second with 4,096 ranks; time of cost() without
// routes for a million ranks; time of cost() and run_cost() with routes for 512 ranks.
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/cost/cost.hpp"

using namespace topoloom;

namespace {

Call call_of(Operation operation, std::size_t ranks) {
    const Bytes bytes{operation == Operation::barrier ? 0 : 64};
    const bool many = operation == Operation::many_to_many || operation == Operation::many_to_many_multicast;
    return {operation, ranks, bytes, Rank{0}, many ? std::make_shared<Demand>(ranks, 16, bytes) : nullptr};
}

void enumerate(benchmark::State& state, const std::string& name, Operation operation) {
    const AnySchedule any = make_schedule(call_of(operation, 4096), name);
    std::int64_t messages = 0;
    for (auto _ : state) {
        std::int64_t bytes = 0;
        any.messages(0, any.rounds(), [&](std::span<const SentMessage> batch) {
            std::int64_t of_batch = 0;
            for (const SentMessage& message : batch) of_batch += message.bytes.value + message.to.value;
            bytes += of_batch;
            messages += std::ssize(batch);
        });
        benchmark::DoNotOptimize(bytes);
    }
    state.SetItemsProcessed(messages);
}

/// Cost of a collective of a million ranks without routes.
void cost_alone(benchmark::State& state, const std::string& name, Operation operation) {
    const AnySchedule any = make_schedule(call_of(operation, 1'000'000), name);
    const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-10}});
    for (auto _ : state) benchmark::DoNotOptimize(cost(any, model).time);
}

/// Cost with routes; ranks are scattered over a torus. `run` selects run_cost(), in which ranks do not wait
/// for rounds.
void cost_routed(benchmark::State& state, const std::string& name, Operation operation, bool run) {
    const Machine machine = make_machine("torus:8x8x8");
    const AnySchedule any = make_schedule(call_of(operation, 512), name);
    const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-10}});
    std::vector<Slot> slots;
    for (const std::uint32_t rank : std::views::iota(0U, 512U)) slots.push_back(Slot{rank * 37 % 512});
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            (run ? run_cost(any, model, machine, slots) : cost(any, model, machine, slots)).time);
    }
}

const int registered = [] {
    for (const ScheduleEntry& entry : schedules()) {
        for (const Operation operation : entry.operations) {
            const std::string name(entry.name);
            const std::string what = name + "/" + std::string(operation_name(operation));
            if (entry.supports_ranks(4096)) {
                benchmark::RegisterBenchmark(("enumerate/" + what).c_str(), [=](benchmark::State& state) {
                    enumerate(state, name, operation);
                })->Unit(benchmark::kMillisecond);
            }
            if (entry.supports_ranks(512)) {
                for (const bool run : {false, true}) {
                    benchmark::RegisterBenchmark(
                        ((run ? "run/" : "routed/") + what).c_str(),
                        [=](benchmark::State& state) { cost_routed(state, name, operation, run); })
                        ->Unit(benchmark::kMillisecond);
                }
            }
            if (entry.supports_ranks(1'000'000)) {
                benchmark::RegisterBenchmark(("cost/" + what).c_str(), [=](benchmark::State& state) {
                    cost_alone(state, name, operation);
                })->Unit(benchmark::kMillisecond);
            }
        }
    }
    return 0;
}();

}  // namespace
