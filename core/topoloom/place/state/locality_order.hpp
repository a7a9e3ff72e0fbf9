// SPDX-License-Identifier: BSD-3-Clause
// Renumbers ranks so that partners are close in memory.
#pragma once

#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The ranks of a symmetric graph in breadth-first order; empty if partners already have close numbers.
/// O(edges).
[[nodiscard]] std::vector<Rank> locality_order(const CommGraph& symmetric);

}  // namespace topoloom
