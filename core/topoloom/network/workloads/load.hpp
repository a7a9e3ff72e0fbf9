// SPDX-License-Identifier: BSD-3-Clause
// How long packets take under a load: warm-up found, mean with its confidence, percentiles.
#pragma once

#include <cstdint>

#include "topoloom/base/budget.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/workloads/open_loop.hpp"

namespace topoloom {

/// What a network does under a load. Cycles count from when a packet was made until all of it has been received.
struct LoadMeasure {
    double offered = 0;       // flits per sending node and cycle
    double accepted = 0;      // that nodes received
    double latency_mean = 0;  // cycles
    double half_width = 0;    // of the 95 % confidence interval of the mean
    double latency_p50 = 0;
    double latency_p99 = 0;
    bool saturated =
        false;             // nodes fall behind by 2 % of the time, or one by a tenth: latencies grow for ever
    bool complete = true;  // false: it was stopped before
    std::uint64_t warm_up = 0;   // cycles that were left out
    std::uint64_t measured = 0;  // cycles
    std::uint64_t packets = 0;
};

/// How exactly, and for how long at most.
struct LoadEffort {
    double precision = 0.01;  // of the half-width, relative to the mean
    std::uint64_t most_cycles = 400000;
};

/// Runs the network, which is new, and which these send over. The warm-up ends where leaving out what came before makes the
/// rest the steadiest (MSER: K. White, An effective truncation heuristic for bias reduction in simulation output,
/// Simulation 69, 1997); then batches of cycles are measured, and doubled until their means agree. The meter is asked between
/// batches.
[[nodiscard]] LoadMeasure measure_load(PacketNetwork& network, const OpenLoop& senders,
                                       const LoadEffort& effort, Meter& meter);

}  // namespace topoloom
