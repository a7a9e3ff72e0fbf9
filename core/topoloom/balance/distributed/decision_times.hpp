// SPDX-License-Identifier: BSD-3-Clause
// Predicts the time to compute a plan: distributed, or on every rank after gathering all loads.
#pragma once

#include <cstdint>

namespace topoloom {

/// Costs of messages, and of computing a plan from all loads.
struct DecisionCosts {
    double message_s = 3e-6;       // latency of a short message
    double byte_s = 1e-10;         // seconds per byte of a long message
    double rank_s = 1.2e-8;        // seconds per rank to compute a plan
    double further_message = 0.3;  // cost of each further concurrent message, as a multiple of message_s
    // Cost of writing loads to shared memory and of two node barriers, as a multiple of message_s.
    double node_exchange = 0.5;
};

/// The number of ranks and their distribution over nodes.
struct DecidingRanks {
    std::uint32_t ranks = 1;
    std::uint32_t nodes = 1;
    std::uint32_t smallest_node = 1;  // number of ranks on the smallest node
};

struct DecisionTimes {
    double gathered = 0;     // s
    double by_node = 0;      // seconds; infinite on a single node
    double distributed = 0;  // s
};

/// Predicts the times of all three methods. Gathering takes log2(ranks) consecutive messages. With memory
/// shared by the ranks of a node, each rank instead sends a message to its share of the other nodes. Either
/// way 8 bytes per rank are moved. decide() takes about seven times as many messages as the plain gather.
/// Gathering is therefore faster up to about ten thousand ranks, and decide() is faster above.
[[nodiscard]] DecisionTimes decision_times(const DecidingRanks& deciding, const DecisionCosts& costs);

}  // namespace topoloom
