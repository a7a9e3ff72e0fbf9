// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/background.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

double max_background(const Machine& machine, std::span<const double> background) {
    if (background.empty()) return 0;
    if (background.size() != machine.link_count()) {
        fail("the background has ", background.size(), " links, but the machine has ", machine.link_count());
    }
    double most = 0;
    for (const double bytes : background) {
        if (!(bytes >= 0) || bytes > 0x1p52)
            fail("a background load is ", bytes, "; it must be from 0 to 2^52 bytes");
        most = std::max(most, bytes);
    }
    return most;
}

Judgement add_background(const Judgement& judgement, const Machine& machine,
                         std::span<const double> background) {
    max_background(machine, background);
    Judgement sum = judgement;
    for (std::size_t i = 0; i < background.size(); ++i) sum.loads[i] += background[i];
    const NetworkView network(machine.topology());
    for (const LinkRun& run : network.bandwidth_runs()) {
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i)
            sum.congestion_max = std::max(sum.congestion_max, sum.loads[i] / run.bandwidth.value);
    }
    return sum;
}

}  // namespace topoloom
