// SPDX-License-Identifier: BSD-3-Clause
// Renumbers ranks so that partners are close in memory.
#pragma once

#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// All ranks of a symmetric graph breadth first; none if partners mostly have numbers near each other as it is. O(edges).
[[nodiscard]] std::vector<Rank> locality_order(const CommGraph& symmetric);

}  // namespace topoloom
