// SPDX-License-Identifier: BSD-3-Clause
// Measures latency and throughput under load: warm-up detection, confidence interval, percentiles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/workloads/load_source.hpp"

namespace topoloom {

/// Utilization during a batch of cycles.
struct LoadSample {
    std::uint64_t cycle = 0;  // the last one
    double accepted = 0;      // flits per sending node and cycle
    double channel_use = 0;   // flits per output of a switch and cycle
    double buffer_fill = 0;   // share of all buffers, in the last cycle; 0: not known
};

/// Result of a load measurement. Cycles count from creation of a packet to arrival of its tail.
struct LoadMeasure {
    double offered = 0;       // flits per sending node and cycle
    double accepted = 0;      // that nodes received, each copy of a multicast as its part
    double latency_mean = 0;  // cycles
    double half_width = 0;    // of the 95 % confidence interval of the mean
    double latency_p50 = 0;
    double latency_p99 = 0;
    bool saturated =
        false;             // nodes fall behind by 2 % of the time, or one by a tenth: latencies grow forever
    bool complete = true;  // false: it was stopped before
    std::uint64_t warm_up = 0;   // cycles that were left out
    std::uint64_t measured = 0;  // cycles
    std::uint64_t packets = 0;
    std::vector<std::uint64_t> by_latency{};  // [cycles]: packets, up to the last that is not 0
    std::vector<double> by_source{};          // [node that sends]: flits per cycle that the network took
    std::vector<LoadSample> series{};
    std::string stalled{};  // names packets that wait for each other in a circle; empty: none do

    /// Fairness of source rates: 1 if all are equal, 1/n if one has all (R. Jain, D. Chiu, W. Hawe, DEC TR-301,
    /// 1984).
    [[nodiscard]] double fairness() const;
};

/// A deadlock; the message names its packets.
class Stalled : public Error {
   public:
    using Error::Error;
};

/// Precision and limit of a measurement.
struct LoadLimits {
    double precision = 0.01;  // of the half-width, relative to the mean
    std::uint64_t max_cycles = 400000;
};

/// Runs the network, which is new, and which these send over. The warm-up ends where leaving out what came before makes the
/// rest the steadiest (MSER: K. White, An effective truncation heuristic for bias reduction in simulation output,
/// Simulation 69, 1997); then batches of cycles are measured, and doubled until their means agree. The meter is asked between
/// batches. Throws Stalled.
[[nodiscard]] LoadMeasure measure_load(PacketNetwork& network, const LoadSource& senders,
                                       const LoadLimits& effort, Meter& meter);

}  // namespace topoloom
