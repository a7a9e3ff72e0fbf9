// SPDX-License-Identifier: BSD-3-Clause
// A ring of ranks.
#pragma once

#include <cstddef>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Makes a graph in which rank i sends `bytes` to i + 1 mod n. A single rank sends nothing. Throws Error for
/// n = 0, 2^31 or more ranks, and bytes < 0.
[[nodiscard]] CommGraph ring(std::size_t rank_count, Bytes bytes);

}  // namespace topoloom
