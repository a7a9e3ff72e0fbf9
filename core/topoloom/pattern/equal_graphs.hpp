// SPDX-License-Identifier: BSD-3-Clause
// Whether two communication graphs are the same, and a hash of what then is.
#pragma once

#include <cstddef>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The same edges, bytes, messages and loads.
[[nodiscard]] bool are_equal(const CommGraph& a, const CommGraph& b);
/// O(ranks): equal graphs have the same.
[[nodiscard]] std::size_t hash_graph(const CommGraph& graph);

}  // namespace topoloom
