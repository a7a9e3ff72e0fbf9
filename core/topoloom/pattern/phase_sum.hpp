// SPDX-License-Identifier: BSD-3-Clause
// Checks that phases add up to a communication graph.
#pragma once

#include <span>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Throws Error unless the bytes and messages of the phases add up to those of the graph for each pair of ranks. No
/// phases: the graph is the only phase. O(edges of all).
void require_phases_add_up(std::span<const CommGraph* const> phases, const CommGraph& graph);

}  // namespace topoloom
