// SPDX-License-Identifier: BSD-3-Clause
// Reader of GOAL text: sends, receives and work of every rank.
#pragma once

#include <string_view>

#include "topoloom/network/programs/operations.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Reads GOAL text: `num_ranks N`, then per rank `rank R {`, a line per operation and dependence, and `}`:
///     l1: send 8b to 1 tag 0 cpu 0     or recv 8b from 1; tag and cpu default to 0, `nic N` is ignored
///     l2: calc 100                     nanoseconds
///     l2 requires l1                   or irequires, which waits only for l1's start
/// Operations without dependents need no label. Comments follow `//`, or are between `/*` and `*/`. Throws Error
/// with the line for syntax errors and for graphs that OperationGraph rejects. Source: T. Hoefler, C. Siebert,
/// A. Lumsdaine, Group Operation Assembly Language, ICPP 2009; the format of LogGOPSim.
[[nodiscard]] OperationGraph read_goal_text(std::string_view text);

/// Returns the communication graph of all sends.
[[nodiscard]] CommGraph communication_graph(const OperationGraph& graph);

}  // namespace topoloom
