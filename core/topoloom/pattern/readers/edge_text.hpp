// SPDX-License-Identifier: BSD-3-Clause
// Readers of communication graphs with one line per edge: plain edge lists, and DIMACS shortest-path files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/readers/value_scale.hpp"

namespace topoloom {

/// What a column of an edge list contains.
enum class EdgeColumn : std::uint8_t { source, target, bytes, messages };

/// Reads lines of numbers, separated by blanks. Without columns, they are source, target, bytes, and messages if
/// the first line has a fourth number. Ranks count from 0; their number is the highest plus 1. Repeated pairs
/// are summed; edges of a rank to itself are self-messages. Without a column of messages, each line is one message.
/// Skips empty lines and lines that start with #. O(text). Throws Error for lines with fewer or more numbers.
[[nodiscard]] CommGraph read_edge_list(std::string_view text, std::span<const EdgeColumn> columns = {},
                                       ValueScale* scale = nullptr);

/// Reads `p sp NODES ARCS` and lines `a SOURCE TARGET BYTES`, which count ranks from 1; skips comments (c). Each
/// arc is one message. O(text). Throws Error for other problems (p), and for a wrong number of arcs.
/// Source: C. Demetrescu, A. V. Goldberg, D. S. Johnson, 9th DIMACS Implementation Challenge: Shortest Paths, 2006.
[[nodiscard]] CommGraph read_dimacs(std::string_view text, ValueScale* scale = nullptr);

}  // namespace topoloom
