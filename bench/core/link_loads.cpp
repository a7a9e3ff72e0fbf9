// SPDX-License-Identifier: BSD-3-Clause
// Exchanges tried under congestion, a second and core: a 7-point stencil of 16^3 ranks on a torus of that shape.
#include <array>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/machine_text.hpp"
#include "topoloom/metric/link_loads.hpp"
#include "topoloom/pattern/stencil.hpp"

using namespace topoloom;

namespace {

constexpr std::uint32_t side = 16;
constexpr std::uint32_t ranks = side * side * side;

enum class Start { random, good };  // good: in place, but for one rank in sixteen
enum class Pairs { near, far };     // far: any two ranks; near: neighbors in the pattern

CommGraph graph() {
    return stencil(std::vector<GridAxis>(3, {side, true}), StencilShape::star, Bytes{1024});
}

std::vector<Slot> start_slots(Start start, Rng& rng) {
    std::vector<Slot> slots;
    for (const Slot slot : ids<Slot>(ranks)) slots.push_back(slot);
    if (start == Start::random) rng.shuffle(std::span(slots));
    for (std::uint32_t i = 0; start == Start::good && i < ranks / 32; ++i)
        std::swap(slots[rng.below(ranks)], slots[rng.below(ranks)]);
    return slots;
}

/// `always` makes each exchange, with the soft value; else only if it is better. All are taken back.
void run(benchmark::State& state, Start start, Pairs pairs, bool always) {
    const Machine machine = make_machine("torus:16x16x16");
    const CommGraph pattern = graph();
    Rng rng(1);
    const std::vector<Slot> slots = start_slots(start, rng);
    LinkLoads<Torus> loads(std::get<Torus>(machine.topology()), machine, pattern, slots);
    if (always) loads.set_soft_scale(loads.key().congestion);
    std::uint64_t kept = 0;
    for (auto _ : state) {
        const Rank u{rng.below(ranks)};
        const auto peers = pattern.peers(u);
        const Rank v = pairs == Pairs::far ? Rank{rng.below(ranks)}
                                           : peers[rng.below(static_cast<std::uint32_t>(peers.size()))];
        if (u == v) continue;
        if (always) {
            loads.exchange(u, v);
            loads.undo();
        } else if (loads.exchange_if_better(u, v)) {
            ++kept;
            loads.undo();
        }
    }
    state.counters["rate"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["kept"] = static_cast<double>(kept) / static_cast<double>(state.iterations());
}

BENCHMARK_CAPTURE(run, try_random_far, Start::random, Pairs::far, false);
BENCHMARK_CAPTURE(run, try_random_near, Start::random, Pairs::near, false);
BENCHMARK_CAPTURE(run, try_good_far, Start::good, Pairs::far, false);
BENCHMARK_CAPTURE(run, try_good_near, Start::good, Pairs::near, false);
BENCHMARK_CAPTURE(run, soft_random_far, Start::random, Pairs::far, true);
BENCHMARK_CAPTURE(run, soft_good_near, Start::good, Pairs::near, true);

}  // namespace
