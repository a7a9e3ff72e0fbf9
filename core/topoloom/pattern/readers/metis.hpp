// SPDX-License-Identifier: BSD-3-Clause
// Reader of METIS graphs (.graph), the format of METIS, KaHIP and Chaco that Scotch also reads.
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Reads a graph. Vertex i + 1 is rank i. An edge of weight w (default 1) is one message of w bytes in each
/// direction. Vertex weights become loads; vertex sizes are skipped. The header is `n m [fmt [ncon]]`, `%`
/// starts a comment line, an isolated vertex is an empty line. O(text), single pass. Throws Error for ncon >
/// 1, and for graphs that the METIS manual forbids: self-loops, parallel edges, an edge in only one direction
/// or with two different weights, zero weights, or a wrong edge count in the header. Source: G. Karypis,
/// METIS 5.1.0 manual, sec. 4.1.1.
[[nodiscard]] CommGraph read_metis(std::string_view text);

}  // namespace topoloom
