// SPDX-License-Identifier: BSD-3-Clause
// What is really sent where slots need the data of some ranks once: messages through proxies.
#pragma once

#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// All that a proxied rank sends to ranks on one slot is one message, the largest of these, to the first of them; all that
/// ranks on one slot send to it likewise. Between two proxied ranks the sender counts. Without proxied ranks; loads stay.
/// Source: J. C. Phillips et al., NAMD: Biomolecular Simulation on Thousands of Processors, SC 2002. O(edges log edges).
[[nodiscard]] CommGraph apply_proxies(const CommGraph& graph, std::span<const Slot> slot_of_rank);

}  // namespace topoloom
