// SPDX-License-Identifier: BSD-3-Clause
// The rounds of a phase: pairs of ranks exchange different numbers of messages, and few need all rounds.
#pragma once

#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Splits a phase where pairs of ranks send different numbers of messages: first the rounds in which all pairs send, then
/// those that pairs with more messages need, and so on. In each graph all pairs have the same number of messages; bytes
/// add up to those of the phase. If there are more than 16 different numbers, neighboring ones count as the larger.
/// Empty where all pairs send the same number. Loads and messages of ranks to themselves are left out. O(edges) per
/// graph.
[[nodiscard]] std::vector<CommGraph> split_rounds(const CommGraph& phase);

}  // namespace topoloom
