// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on the bytes between any k ranks and all others, for grid patterns.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::bound {

struct GridCuts {
    /// [k], for k = 0 .. ranks: a lower bound on the bytes, in both directions, between any k ranks and the
    /// others. Empty for patterns that are not grids.
    std::vector<std::int64_t> bytes;
    /// Whether sets of many sizes have cuts as small. Not for boxes, of which only the messages along axes
    /// count, and not for alltoall along an axis.
    bool is_sharp = false;
};

/// Recognizes a grid, and bounds its cuts.
///
/// This is the edge-isoperimetric inequality of Bollobas and Leader (Edge-isoperimetric inequalities in the
/// grid, Combinatorica 11 (1991)) for any extents n_i and any costs b_i of a mixed line: a line of cells
/// along axis i that contains both chosen and other cells. With N cells and B_i = b_i / n_i, k cells cost at
/// least
///
///     F(k) = min over sets S of axes, r = |S|, and x = k, N - k:  N r (prod_S B_i)^(1/r) (x / N)^(1 - 1/r).
///
/// Proof. Compression along an axis (every line becomes an initial segment of equal size) makes no line along
/// any axis mixed that was not, so the k cells are a down-set. By induction over the axes: let f be F for the
/// other axes, V = N / n their cells, and let the n slices along the last axis have k_1 >= .. >= k_n cells.
/// The cost is at least sum f(k_j) + b (k_1 - k_n). f is concave, so the minimum is at a vertex of the
/// polytope of sorted sizes with sum k: V, .., V, p, .., p, 0, .., 0. If both V and 0 occur, the cost is at
/// least b V, the case S = {last}. If neither, it is n f(k / n), where S does not contain the last axis. If
/// only p (m times) and 0 occur, it is b p + m f(p); V and p are its complement. If f(p) is the term of a set
/// S' and x = p, the inequality of arithmetic and geometric means gives the term of S' and the last axis. If
/// x = V - p <= p, let r = |S'|, z = x / V <= 1/2, and u = m (prod_S' B_i)^(1/r) / b. In units of b V, the cost is
/// 1 - z + r u z^(1 - 1/r). If it is below 1, the case S = {last}, then u < z^(1/r) / r. Up to there the cost
/// minus the term of S' and the last axis, (r + 1) (u (1 - z))^(r / (r + 1)), is convex and decreases in u.
/// There the cost is 1, and the term is at most 1, because z (1 - z)^r is at most
/// r^r / (r + 1)^(r + 1).
[[nodiscard]] GridCuts grid_cuts(const CommGraph& symmetric, int threads);

}  // namespace topoloom::bound
