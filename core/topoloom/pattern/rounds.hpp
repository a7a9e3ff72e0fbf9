// SPDX-License-Identifier: BSD-3-Clause
// Splits phases into rounds if rank pairs exchange different numbers of messages.
#pragma once

#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Splits a phase by message count: first the rounds in which all pairs send, then the additional rounds of
/// pairs with more messages. In each graph all pairs have the same number of messages; the bytes add up to
/// the bytes of the phase. Distinguishes at most 16 counts and rounds others up. Returns an empty list if all
/// pairs send the same number. Omits loads and self-messages. O(edges) per graph.
[[nodiscard]] std::vector<CommGraph> split_into_rounds(const CommGraph& phase);

}  // namespace topoloom
