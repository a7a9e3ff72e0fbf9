// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on the bytes between any k ranks and all others.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::bound {

/// [k], for k = 0 .. ranks: a lower bound on the bytes, in both directions, between any k ranks and the
/// others. Derived from the maximum bytes that k ranks can exchange among themselves if each communicates
/// with its heaviest partners, and from grid_cuts(). If these are not sharp, for up to 256 ranks also from
/// spectral_cuts().
[[nodiscard]] std::vector<std::int64_t> min_cut_bytes(const CommGraph& symmetric, int threads = 0);

/// The same from the second smallest eigenvalue of the pattern's Laplacian (Fiedler 1973; k * (ranks - k) /
/// ranks times the eigenvalue), minus a rounding margin. O(ranks^3); seconds for 1,024 ranks.
[[nodiscard]] std::vector<std::int64_t> spectral_cuts(const CommGraph& symmetric);

}  // namespace topoloom::bound
