// SPDX-License-Identifier: BSD-3-Clause
// Departure and arrival times of the messages of a rank, with CPU, NIC and wire overlapped.
#pragma once

#include <algorithm>
#include <limits>

namespace topoloom {

/// Departure times of the messages of a rank, in seconds after the first may leave. The NIC takes the time
/// `turn` for each message, which begins when the previous message has left and the CPU has started this one.
/// Therefore, k equal messages have left after max(k turn, (k - 1) o_s + turn). The turn is LogGP's gap, g +
/// (b - 1) G, and o_s its overhead (A. Alexandrov et al., LogGP, SPAA 1995, sec. 2), except that a CPU may
/// start a message while the NIC sends the previous one.
struct Departures {
    double started = 0, left = 0;
    /// Adds a message. Returns its arrival time without latency, if its route needs `wire` seconds.
    double add(double overhead, double turn, double wire = 0) {
        left = std::max(left, started) + turn;
        const double arrived = std::max(left, started + wire);
        started += overhead;
        return arrived;
    }
};

/// Arrivals of messages at a rank, whose CPU processes them one after the other, in any order. The overheads
/// of a single message are part of the model's latency and turn, so that k equal messages that arrive at once
/// are processed (k - 1) o_r later. Exact for equally spaced arrivals; otherwise a lower bound.
struct Arrivals {
    double first = std::numeric_limits<double>::infinity();
    double last = -std::numeric_limits<double>::infinity();
    double busy = 0;
    /// `work`: seconds to process each of the `count` messages after its arrival.
    void add(double arrived, double overhead, double work, double count = 1) {
        first = std::min(first, arrived - overhead);
        last = std::max(last, arrived + work);
        busy += count * (overhead + work);
    }
    /// Whether no message has arrived.
    [[nodiscard]] bool is_empty() const { return last < 0; }
    /// The time at which all messages have been processed; 0 if none has arrived.
    [[nodiscard]] double end_time() const { return is_empty() ? 0 : std::max(last, first + busy); }
};

}  // namespace topoloom
