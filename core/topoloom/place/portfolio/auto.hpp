// SPDX-License-Identifier: BSD-3-Clause
// The portfolio: tries what suits the problem and keeps the best.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom {

struct AutoOptions {
    std::uint32_t effort = 1;
    void visit(auto& field) {
        field("effort", effort, Choices{"fast", "default", "best"}, "how long to search");
    }
};

/// Chooses constructors and improvers by the number of ranks, the structure and density of the graph and the effort,
/// and returns the best placement met by the problem's objective: never worse than block order nor than any mapper it tried. The standard effort
/// takes under a second for 1,000 ranks and under 10 for 100,000.
[[nodiscard]] Placement place_auto(const Problem& problem, Meter& meter, const AutoOptions& options);

}  // namespace topoloom
