// SPDX-License-Identifier: BSD-3-Clause
// Equality and hash of communication graphs.
#pragma once

#include <cstddef>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Compares edges, bytes, messages and loads.
[[nodiscard]] bool are_equal(const CommGraph& a, const CommGraph& b);
/// A hash that is equal for equal graphs. O(ranks).
[[nodiscard]] std::size_t hash_graph(const CommGraph& graph);

}  // namespace topoloom
