// SPDX-License-Identifier: BSD-3-Clause
// What a decision takes: by messages between few, or after an all-gather by every rank on its own.
#pragma once

#include <cstdint>

namespace topoloom {

/// Of the network, and of a rank that decides on its own.
struct DecisionCosts {
    double message_s = 3e-6;  // until a short message has come
    double byte_s = 1e-10;    // of a long one
    double rank_s = 1.2e-8;   // to decide, by each rank whose load is known
};

struct DecisionTimes {
    double gathered = 0;     // s
    double distributed = 0;  // s
};

/// Gathering takes log2(ranks) messages in a row and 8 bytes of each rank; decide() about seven times as many messages. So the
/// former is faster up to some ten thousand ranks, and the latter beyond.
[[nodiscard]] DecisionTimes decision_times(std::uint32_t ranks, const DecisionCosts& costs);

}  // namespace topoloom
