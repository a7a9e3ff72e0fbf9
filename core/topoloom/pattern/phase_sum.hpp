// SPDX-License-Identifier: BSD-3-Clause
// Whether phases are the parts of a communication graph.
#pragma once

#include <span>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Throws Error unless the bytes and messages of the phases, pair by pair, add up to those of the graph. No phases: the
/// graph is one. O(edges of all).
void require_phases_add_up(std::span<const CommGraph* const> phases, const CommGraph& graph);

}  // namespace topoloom
