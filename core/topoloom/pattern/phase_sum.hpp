// SPDX-License-Identifier: BSD-3-Clause
// Checks that phases add up to a communication graph.
#pragma once

#include <span>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Throws Error unless, for each pair of ranks, the bytes and messages of the phases add up to the bytes and
/// messages of the graph. Without phases, the graph is the only phase. O(edges of all graphs).
void require_phases_add_up(std::span<const CommGraph* const> phases, const CommGraph& graph);

}  // namespace topoloom
