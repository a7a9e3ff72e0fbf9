// SPDX-License-Identifier: BSD-3-Clause
// Reads METIS graphs (.graph), as METIS, KaHIP, Scotch and Chaco know them.
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Vertex i + 1 is rank i. An edge of weight w (1 unless given) is one message of w bytes in each direction.
/// Vertex weights become loads, vertex sizes are skipped. Header `n m [fmt [ncon]]`, `%` starts a comment
/// line, an isolated vertex is an empty line. O(text), single pass. Throws Error for anything that METIS's
/// manual does not allow: self-loops, parallel edges, an edge given in one direction only or with two
/// weights, weights of 0, another number of edges than announced; and for ncon > 1. Source: G. Karypis,
/// METIS 5.1.0 manual, sec. 4.1.1.
[[nodiscard]] CommGraph read_metis(std::string_view text);

}  // namespace topoloom
