// SPDX-License-Identifier: BSD-3-Clause
// Exchanges whose congestion is evaluated, per second and core: a 7-point stencil of 16^3 ranks on a torus of the
// same shape.
#include <array>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/loads/link_loads.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

constexpr std::uint32_t side = 16;
constexpr std::uint32_t ranks = side * side * side;

enum class Start { random, good };  // good: one rank in sixteen is on a wrong slot
enum class Pairs { near, far };     // far: any two ranks; near: neighbors in the pattern

std::vector<Slot> make_start_slots(Start start, Rng& rng) {
    std::vector<Slot> slots;
    for (const Slot slot : ids<Slot>(ranks)) slots.push_back(slot);
    if (start == Start::random) rng.shuffle(std::span(slots));
    for (std::uint32_t i = 0; start == Start::good && i < ranks / 32; ++i)
        std::swap(slots[rng.below(ranks)], slots[rng.below(ranks)]);
    return slots;
}

struct Pair {
    Rank u;
    Rank v;
};

class Setting {
   public:
    explicit Setting(Start start) : slots_(make_start_slots(start, rng_)) {}

    Pair pair(Pairs pairs) {
        const Rank u{rng_.below(ranks)};
        const auto peers = pattern_.peers(u);
        const Rank near = peers[rng_.below(static_cast<std::uint32_t>(peers.size()))];
        const Rank v = pairs == Pairs::near ? near : Rank{rng_.below(ranks)};
        return u == v ? Pair{u, near} : Pair{u, v};
    }

   private:
    Machine machine_ = make_machine("torus:16x16x16");
    CommGraph pattern_ = stencil(std::vector<GridAxis>(3, {side, true}), StencilShape::star, Bytes{1024});
    Rng rng_{1};
    std::vector<Slot> slots_;

   public:
    LinkLoads loads{machine_, pattern_, slots_};
};

void set_rate_counter(benchmark::State& state) {
    state.counters["rate"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

/// Rejected exchanges, which are almost all exchanges of a search.
void try_exchange(benchmark::State& state, Start start, Pairs pairs) {
    Setting setting(start);
    std::vector<Pair> worse;
    while (worse.size() < 10'000) {
        const Pair pair = setting.pair(pairs);
        if (setting.loads.exchange_if_better(pair.u, pair.v)) {
            setting.loads.undo();
        } else {
            worse.push_back(pair);
        }
    }
    std::size_t next = 0;
    for (auto _ : state) {
        const Pair pair = worse[next++ % worse.size()];
        benchmark::DoNotOptimize(setting.loads.exchange_if_better(pair.u, pair.v));
    }
    set_rate_counter(state);
}
BENCHMARK_CAPTURE(try_exchange, random_far, Start::random, Pairs::far);
BENCHMARK_CAPTURE(try_exchange, random_near, Start::random, Pairs::near);
BENCHMARK_CAPTURE(try_exchange, good_far, Start::good, Pairs::far);
BENCHMARK_CAPTURE(try_exchange, good_near, Start::good, Pairs::near);

/// Annealing at zero temperature: accepts an exchange only if the soft value does not increase.
void propose_exchange(benchmark::State& state, Start start, Pairs pairs) {
    Setting setting(start);
    setting.loads.set_soft_scale();
    for (auto _ : state) {
        const Pair pair = setting.pair(pairs);
        const SoftLimit limit{.nearer = setting.loads.soft_value(), .farther = setting.loads.soft_value()};
        benchmark::DoNotOptimize(setting.loads.exchange_if_soft_at_most(pair.u, pair.v, limit));
    }
    set_rate_counter(state);
}
BENCHMARK_CAPTURE(propose_exchange, random_far, Start::random, Pairs::far);
BENCHMARK_CAPTURE(propose_exchange, good_near, Start::good, Pairs::near);

}  // namespace
