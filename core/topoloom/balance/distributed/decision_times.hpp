// SPDX-License-Identifier: BSD-3-Clause
// What a decision takes: by messages between few, or after gathering all loads, by every rank on its own.
#pragma once

#include <cstdint>

namespace topoloom {

/// Of the network, and of a rank that decides on its own.
struct DecisionCosts {
    double message_s = 3e-6;       // until a short message has come
    double byte_s = 1e-10;         // of a long one
    double rank_s = 1.2e-8;        // to decide, by each rank whose load is known
    double further_message = 0.3;  // each that a rank sends at once with another, in messages
    double board = 0.5;            // writing loads for the node, and waiting for its ranks twice, in messages
};

/// Who decides, and where they are.
struct DecidingRanks {
    std::uint32_t ranks = 1;
    std::uint32_t nodes = 1;
    std::uint32_t smallest_node = 1;  // its ranks
};

struct DecisionTimes {
    double gathered = 0;     // s
    double on_boards = 0;    // s; infinite on one node
    double distributed = 0;  // s
};

/// Gathering takes log2(ranks) messages in a row, or with boards that the ranks of a node share one from each rank to each of its
/// share of the other nodes; and 8 bytes of each rank. decide() takes about seven times as many messages as the former. So
/// gathering is faster up to some ten thousand ranks, and decide() beyond.
[[nodiscard]] DecisionTimes decision_times(const DecidingRanks& deciding, const DecisionCosts& costs);

}  // namespace topoloom
