// SPDX-License-Identifier: BSD-3-Clause
// Equality and hash of communication graphs.
#pragma once

#include <cstddef>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Whether two graphs have equal edges, bytes, messages and loads.
[[nodiscard]] bool are_equal(const CommGraph& a, const CommGraph& b);
/// Computes a hash. Equal graphs have equal hashes. O(ranks).
[[nodiscard]] std::size_t hash_graph(const CommGraph& graph);

}  // namespace topoloom
