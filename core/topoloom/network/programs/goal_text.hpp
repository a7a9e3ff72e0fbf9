// SPDX-License-Identifier: BSD-3-Clause
// Reads GOAL text: sends, receives and work of every rank.
#pragma once

#include <string_view>

#include "topoloom/network/programs/operations.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// `num_ranks N`, then for ranks `rank R {`, a line for each operation and dependence, and `}`:
///     l1: send 8b to 1 tag 0 cpu 0     also recv 8b from 1; tag and cpu are 0 unless given, and `nic N` is read over
///     l2: calc 100                     nanoseconds
///     l2 requires l1                   or irequires: only l1's start
/// Operations that nothing waits for need no label. Comments follow `//`, or are between `/*` and `*/`. Throws Error with the
/// line, for what it cannot read and what OperationGraph refuses. Source: T. Hoefler, C. Siebert, A. Lumsdaine, Group Operation
/// Assembly Language, ICPP 2009; the text that LogGOPSim reads.
[[nodiscard]] OperationGraph read_goal_text(std::string_view text);

/// The communication graph of all sends.
[[nodiscard]] CommGraph communication_graph(const OperationGraph& graph);

}  // namespace topoloom
