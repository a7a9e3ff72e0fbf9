// SPDX-License-Identifier: BSD-3-Clause
// Departure and arrival times of the messages of a rank, with CPU, NIC and wire overlapped.
#pragma once

#include <algorithm>
#include <limits>

namespace topoloom {

/// Messages that a rank sends one after the other, in seconds from when the first may leave. Its card takes a turn for each,
/// once the one before has left and the CPU has started it: k equal ones have left after max(k turn, (k - 1) o_s + turn).
/// The turn is LogGP's gap, g + (b - 1) G, and o_s its overhead (A. Alexandrov et al., LogGP, SPAA 1995, sec. 2), but that a
/// CPU may start a message while the card sends the one before.
struct Departures {
    double started = 0, left = 0;
    /// Returns when it is at its receiver, less the latency, where the way takes `wire` for it.
    double add(double overhead, double turn, double wire = 0) {
        left = std::max(left, started) + turn;
        const double arrived = std::max(left, started + wire);
        started += overhead;
        return arrived;
    }
};

/// Messages that come to a rank, whose CPU takes one after the other, in whatever order. The overheads of a message alone are
/// in the model's latency and in its turn, so that k equal ones that arrive at once are taken (k - 1) o_r later. Exact where
/// they arrive at equal distances in time; else it may take longer.
struct Arrivals {
    double first = std::numeric_limits<double>::infinity();
    double last = -std::numeric_limits<double>::infinity();
    double busy = 0;
    /// `work`: what it does with each of `count` messages then.
    void add(double arrived, double overhead, double work, double count = 1) {
        first = std::min(first, arrived - overhead);
        last = std::max(last, arrived + work);
        busy += count * (overhead + work);
    }
    /// Whether no message has arrived.
    [[nodiscard]] bool is_empty() const { return last < 0; }
    /// When all messages have been processed; 0 if none has arrived.
    [[nodiscard]] double end_time() const { return is_empty() ? 0 : std::max(last, first + busy); }
};

}  // namespace topoloom
