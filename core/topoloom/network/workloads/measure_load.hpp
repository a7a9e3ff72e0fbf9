// SPDX-License-Identifier: BSD-3-Clause
// Measurement of latency and throughput under load: warm-up detection, confidence interval, percentiles.
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
    std::uint64_t cycle = 0;  // last cycle of the batch
    double accepted = 0;      // received flits per sending node and cycle
    double channel_use = 0;   // flits forwarded per switch output and cycle
    double buffer_fill = 0;   // used share of all buffers in the last cycle, or 0 if unknown
};

/// Result of a load measurement. Latency is in cycles, from creation of a packet to arrival of its tail.
struct LoadMeasure {
    double offered = 0;       // offered load in flits per sending node and cycle
    double accepted = 0;      // received load in the same unit; the copies of a multicast count as one packet
    double latency_mean = 0;  // cycles
    double half_width = 0;    // half-width of the 95 % confidence interval of the mean
    double latency_p50 = 0;
    double latency_p99 = 0;
    /// Whether latencies grow without bound: the lag grows by 2 % of the time on average over nodes, by 10 % at
    /// one node, or latencies still grow at the limit of the measurement.
    bool saturated = false;
    bool complete = true;        // false if the run was stopped early
    std::uint64_t warm_up = 0;   // number of discarded cycles
    std::uint64_t measured = 0;  // number of measured cycles
    std::uint64_t packets = 0;
    /// [latency in cycles]: number of packets; ends with the last nonzero count.
    std::vector<std::uint64_t> by_latency{};
    std::vector<double> by_source{};  // [sending node]: accepted flits per cycle
    std::vector<LoadSample> series{};
    std::string stalled{};  // description of a deadlock, or empty

    /// Jain's fairness of source rates: 1 if all are equal, 1/n if one source has everything (R. Jain, D.
    /// Chiu, W. Hawe, DEC TR-301, 1984).
    [[nodiscard]] double fairness() const;
};

/// Reports a deadlock; the message lists its packets.
class DeadlockError : public Error {
   public:
    using Error::Error;
};

/// Precision and limit of a measurement.
struct MeasurementLimits {
    double precision = 0.01;  // half-width of the confidence interval, relative to the mean
    std::uint64_t max_cycles = 400000;
};

/// Measures a new network under the load of `senders`. Discards the warm-up whose removal minimizes the
/// standard error of the rest (MSER: K. White, An effective truncation heuristic for bias reduction in
/// simulation output, Simulation 69, 1997). Then measures batches of cycles, and doubles their length until
/// the means agree. Polls the meter between batches. Throws DeadlockError on deadlock.
[[nodiscard]] LoadMeasure measure_load(PacketNetwork& network, const LoadSource& senders,
                                       const MeasurementLimits& effort, Meter& meter);

}  // namespace topoloom
