// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on the bytes between any k ranks and all others, from a flow between all pairs of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom::bound {

/// [k], for k = 0 .. ranks: a lower bound on the bytes, in both directions, between any k ranks and the
/// others; empty if the graph is not connected, or
/// if the budget has no room for a first flow.
///
/// Routes a unit of flow from every rank to every other along the edges of the pattern. If the flow over an
/// edge is at most `most` times its bytes, 2 k (ranks - k) / most bytes cross the cut around any k ranks
/// (Leighton, Rao, J. ACM 46 (1999)). In large patterns, only a sample of ranks sends. If at most half of
/// all ranks are in the part, senders * k units then cross its cut. Routes follow shortest paths, whose
/// lengths rise with the flow, and are averaged by the method of Frank and Wolfe (Fratta, Gerla, Kleinrock,
/// Networks 3 (1973)). Spends the budget on better flows; senders * edges steps each.
[[nodiscard]] std::vector<std::int64_t> flow_cuts(const CommGraph& symmetric, int threads, Meter& meter);

}  // namespace topoloom::bound
