// SPDX-License-Identifier: BSD-3-Clause
// Lower bound on the bytes between any k ranks and all others.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::bound {

/// [k], for k = 0 .. ranks: a lower limit on the bytes, both directions together, between any k ranks and the others.
/// From what k ranks can keep among themselves, each with its heaviest partners; and, for up to 1,024 ranks, from the
/// second smallest eigenvalue of the pattern's Laplacian (Fiedler 1973; k * (ranks - k) / ranks times that), less what
/// rounding can have added.
[[nodiscard]] std::vector<std::int64_t> min_cut_bytes(const CommGraph& symmetric);

}  // namespace topoloom::bound
