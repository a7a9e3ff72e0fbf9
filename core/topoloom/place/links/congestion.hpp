// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing under congestion: the improver for jobs that wait for their busiest link.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::links {

struct CongestionOptions {
    std::uint32_t sweeps = 0;
    void visit(auto& field) {
        field("sweeps", sweeps, Range{0, 1e9}, "proposals for each rank; 0: by the size of the job");
    }
};

/// Default sweeps: a few hundred ranks take less than a second.
[[nodiscard]] std::uint32_t annealing_sweeps(const CommGraph& graph);

/// Simulated annealing; the best placement by CongestionKey that was seen. The maximum alone says nothing about most
/// exchanges; annealing goes by the sum of (congestion / maximum)^8 over all links instead, which has
/// a slope everywhere. Ranks are exchanged with others or move to free slots, anywhere at first and among the nearest in
/// the end. Temperatures fall by a constant factor, faster if the budget is short. Under other objectives than hop-bytes
/// the same with their keys and soft values. Never returns a worse placement. A proposal costs O(links of the routes
/// that change). Work counts evaluations.
[[nodiscard]] Placement anneal_links(const Problem& problem, Placement start, Meter& meter,
                                     const CongestionOptions& options);

/// anneal_links() followed by local-opt; up to 1,000 ranks never worse than local-opt alone.
[[nodiscard]] Placement improve_congestion(const Problem& problem, Placement start, Meter& meter,
                                           const CongestionOptions& options);

}  // namespace topoloom::links
