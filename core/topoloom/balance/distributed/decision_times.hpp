// SPDX-License-Identifier: BSD-3-Clause
// Predicted times of the two ways to compute a plan: distributed, or by every rank after gathering all loads.
#pragma once

#include <cstdint>

namespace topoloom {

/// Costs of messages, and of computing a plan from all loads.
struct DecisionCosts {
    double message_s = 3e-6;       // latency of a short message
    double byte_s = 1e-10;         // per byte of a long message
    double rank_s = 1.2e-8;        // to compute a plan, per rank
    double further_message = 0.3;  // each further message sent at once, in messages
    double node_exchange = 0.5;    // writing loads to shared memory and two node barriers, in messages
};

/// The number of ranks and how nodes hold them.
struct DecidingRanks {
    std::uint32_t ranks = 1;
    std::uint32_t nodes = 1;
    std::uint32_t smallest_node = 1;  // its ranks
};

struct DecisionTimes {
    double gathered = 0;     // s
    double by_node = 0;      // s; infinite on one node
    double distributed = 0;  // s
};

/// Predicts both. Gathering takes log2(ranks) messages in a row. Through memory shared by the ranks of a node, it takes one from
/// each rank to its share of the other nodes. Either way it moves 8 bytes per rank. decide() takes about seven times as many
/// messages as the former. So gathering is faster up to some ten thousand ranks, and decide() beyond.
[[nodiscard]] DecisionTimes decision_times(const DecidingRanks& deciding, const DecisionCosts& costs);

}  // namespace topoloom
