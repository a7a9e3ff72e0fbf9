// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing that minimizes congestion.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::links {

struct CongestionOptions {
    std::uint32_t sweeps = 0;
    void visit(auto& field) {
        field("sweeps", sweeps, Range{0, 1e9}, "proposals for each rank; 0: by the size of the job");
    }
};

/// The default number of sweeps: less than a second for a few hundred ranks.
[[nodiscard]] std::uint32_t annealing_sweeps(const CommGraph& graph);

/// Simulated annealing; returns the best placement visited, by CongestionKey. The maximum alone does
/// not distinguish most exchanges, so annealing minimizes the sum of (congestion / maximum)^8 over all links
/// instead. Ranks are exchanged or move to free slots: any slot at first, only near slots at the end. The
/// temperature falls by a constant factor, faster if the budget is short.
///
/// Objectives other than hop-bytes use their own keys and soft values (smooth maxima). Never returns a worse
/// placement. A proposal costs O(links of the routes that change). Work counts evaluations.
[[nodiscard]] Placement anneal_links(const Problem& problem, Placement start, Meter& meter,
                                     const CongestionOptions& options);

/// anneal_links() followed by local-opt; up to 1,000 ranks the result is never worse than that of local-opt
/// alone.
[[nodiscard]] Placement improve_congestion(const Problem& problem, Placement start, Meter& meter,
                                           const CongestionOptions& options);

}  // namespace topoloom::links
