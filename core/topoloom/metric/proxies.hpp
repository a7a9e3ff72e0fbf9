// SPDX-License-Identifier: BSD-3-Clause
// Replaces messages of proxied ranks by those that their proxies forward.
#pragma once

#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Combines all messages of a proxied rank to the ranks of one slot into one, of the largest size, to the first of
/// them; and likewise all messages from these ranks to it. Between two proxied ranks the sender's proxies count. The
/// result has no proxied ranks; loads stay. Source: J. C. Phillips et al., NAMD: Biomolecular Simulation on Thousands
/// of Processors, SC 2002. O(edges log edges).
[[nodiscard]] CommGraph apply_proxies(const CommGraph& graph, std::span<const Slot> slot_of_rank);

}  // namespace topoloom
