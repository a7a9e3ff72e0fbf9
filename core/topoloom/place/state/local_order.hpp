// SPDX-License-Identifier: BSD-3-Clause
// Numbers for the ranks by which partners stand near each other, so that large graphs are read from the caches.
#pragma once

#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// All ranks of a symmetric graph breadth first; none if partners mostly have numbers near each other as it is. O(edges).
[[nodiscard]] std::vector<Rank> local_order(const CommGraph& symmetric);

}  // namespace topoloom
