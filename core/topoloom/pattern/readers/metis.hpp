// SPDX-License-Identifier: BSD-3-Clause
// Reads METIS graphs (.graph), as METIS, KaHIP, Scotch and Chaco know them.
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Vertex i + 1 is rank i. An edge of weight w (1 unless given) is one message of w bytes in each direction.
/// Vertex weights become loads, vertex sizes are skipped. Header `n m [fmt [ncon]]`, `%` starts a comment
/// line, an isolated vertex is an empty line. O(text), single pass. Throws Error for anything that METIS's
/// manual forbids: self-loops, parallel edges, an edge listed in one direction only or with two different
/// weights, zero weights, or an edge count that differs from the header. Throws Error for ncon > 1.
/// Source: G. Karypis, METIS 5.1.0 manual, sec. 4.1.1.
[[nodiscard]] CommGraph read_metis(std::string_view text);

}  // namespace topoloom
