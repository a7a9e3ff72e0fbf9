// SPDX-License-Identifier: BSD-3-Clause
// When the messages of a round have left a rank, and come to one: CPUs and the network work side by side.
#pragma once

#include <algorithm>
#include <limits>

namespace topoloom {

/// Messages that a rank sends one after the other, in seconds from when the first may leave. A card takes a turn for each,
/// once the one before has left and the CPU has started it: k equal ones are gone after max(k turn, (k - 1) o_s + turn),
/// in LogGP g + (b - 1) G and o (A. Alexandrov et al., LogGP, SPAA 1995, sec. 2), where a CPU may start the next message
/// while the card sends.
struct Departures {
    double started = 0, left = 0;
    void add(double overhead, double turn) {
        left = std::max(left, started) + turn;
        started += overhead;
    }
};

/// Messages that come to a rank, which takes one after the other: k equal ones that are sent at once are there after turn +
/// (k - 1) o_r. The overheads of one message alone are in the model's latency and in its turn, so they are not added.
struct Arrivals {
    double taken = -std::numeric_limits<double>::infinity();
    /// `work`: what it does with the message then.
    void add(double overhead, double turn, double work) { taken = std::max(taken + overhead, turn) + work; }
};

}  // namespace topoloom
