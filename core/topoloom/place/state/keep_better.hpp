// SPDX-License-Identifier: BSD-3-Clause
// Guards against worse results of searches that minimize only loads although the objective has other terms.
#pragma once

#include <utility>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// Returns search(start) or, if that is worse by the problem's objective, `start`. Under `time`, searches
/// minimize only loads, and relieving a busy link may lengthen other routes. See make_load_tracker().
template <class Search>
[[nodiscard]] Placement keep_better(const Problem& problem, Placement start, const Search& search) {
    const PhasedObjective objective = problem.link_objective();
    Placement found = search(std::as_const(start));
    if (objective.mix.of(ObjectiveKind::time) == 0) return found;
    return problem.key(found.slots()) <= problem.key(start.slots()) ? found : start;
}

}  // namespace topoloom
