// SPDX-License-Identifier: BSD-3-Clause
// The part of `auto` that solves small problems exactly.
#pragma once

#include <optional>

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/effort_limits.hpp"

namespace topoloom::portfolio {

struct SmallSearchResult {
    Placement placement;
    bool is_optimal;  // proven; false if the work did not suffice
};

/// Searches for a placement that is proven to have the lowest objective, within about 0.3 s of work (`best` on
/// shared slots: 10 s) and a third of the budget: by branch and bound for hop-bytes on up to 16 slots or 10
/// ranks, or on few shared slots; by enumeration for other objectives and few ranks. None if the problem is too
/// large. Uses one thread. Never worse than block order with one rank per slot.
[[nodiscard]] std::optional<SmallSearchResult> search_small_problem(const Problem& problem, Meter& meter,
                                                                    const EffortLimits& limits);

}  // namespace topoloom::portfolio
