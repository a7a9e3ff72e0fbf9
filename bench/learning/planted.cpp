// SPDX-License-Identifier: BSD-3-Clause
// Learning from wrong models: number of calls until the best schedule is found, and the regret. Prints a
// Markdown table. Usage: bench_learning [CASES]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "strategy/learning_cases.hpp"

using namespace topoloom;

namespace {

double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

void print_row(std::uint64_t cases, double noise) {
    std::vector<double> calls, regrets;
    std::uint64_t close = 0, cheap = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const LearningResult learned = learn_planted(draw_case(seed), 1000, noise, seed);
        close += learned.after_20_calls <= 1.05;
        cheap += learned.regret <= 0.03;
        calls.push_back(learned.calls_until_close);
        regrets.push_back(100 * learned.regret);
    }
    const auto percent = [&](std::uint64_t count) {
        return 100 * static_cast<double>(count) / static_cast<double>(cases);
    };
    std::printf("| %.0f %% | %.1f %% | %.0f | %.0f | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", 100 * noise,
                percent(close), quantile(calls, 0.5), quantile(calls, 0.99), quantile(regrets, 0.5),
                quantile(regrets, 0.9), quantile(regrets, 0.99), percent(cheap));
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
    std::puts(
        "| noise | within 5 % after 20 calls | calls until then: median | 99 % | regret of 1,000 calls: "
        "median "
        "| 90 % | 99 % | regret of 3 % at most |");
    std::puts("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (const double noise : {0.0, 0.05}) print_row(cases, noise);
    return 0;
}
