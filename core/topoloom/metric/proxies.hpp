// SPDX-License-Identifier: BSD-3-Clause
// Replaces the messages of proxied ranks by the combined messages of their proxies.
#pragma once

#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Combines all messages of a proxied rank to the ranks of one slot into one message of the largest size to
/// the first of these ranks. Does the same for all messages from these ranks to the proxied rank. Messages
/// between two proxied ranks use the sender's proxies. The result has no proxied ranks and the same loads.
/// Source: J. C. Phillips et al., NAMD: Biomolecular Simulation on Thousands of Processors, SC 2002. O(edges
/// log edges).
[[nodiscard]] CommGraph apply_proxies(const CommGraph& graph, std::span<const Slot> slot_of_rank);

}  // namespace topoloom
