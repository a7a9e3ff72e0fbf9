// SPDX-License-Identifier: BSD-3-Clause
// Splits a phase into rounds where rank pairs exchange different numbers of messages.
#pragma once

#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Splits a phase by message count: first the rounds in which all pairs send, then the additional rounds of pairs
/// with more messages. Within each graph all pairs have the same number of messages; bytes add up to those of the
/// phase. At most 16 different counts are kept; neighboring ones round up. Empty if all pairs send the same number.
/// Omits loads and self-messages. O(edges) per graph.
[[nodiscard]] std::vector<CommGraph> split_rounds(const CommGraph& phase);

}  // namespace topoloom
