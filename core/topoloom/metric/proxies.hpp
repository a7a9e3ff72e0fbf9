// SPDX-License-Identifier: BSD-3-Clause
// Replaces the messages of proxied ranks by the combined messages of their proxies.
#pragma once

#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Combines all messages from a proxied rank to the ranks of one slot into one message. It has the largest
/// size, and is sent to the first of these ranks. All messages from these ranks to the proxied rank are
/// combined in the same way. Messages between two proxied ranks use the sender's proxies. The result has no
/// proxied ranks and the same loads. Source: J. C. Phillips et al., NAMD: Biomolecular Simulation on
/// Thousands of Processors, SC 2002. O(edges log edges).
[[nodiscard]] CommGraph apply_proxies(const CommGraph& graph, std::span<const Slot> slot_of_rank);

}  // namespace topoloom
