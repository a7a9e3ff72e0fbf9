// SPDX-License-Identifier: BSD-3-Clause
// Guards improvers that consider only loads under an objective with other terms.
#pragma once

#include <utility>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// What search(start) returns, or the start if that is better by the problem's objective: under `time`, searches go
/// by loads, and a busy link's relief may cost a longer route. See make_load_tracker().
template <class Search>
[[nodiscard]] Placement keep_better(const Problem& problem, Placement start, const Search& search) {
    const MeasuredObjective objective = problem.link_objective();
    Placement found = search(std::as_const(start));
    if (objective.mix.of(ObjectiveKind::time) == 0) return found;
    return problem.key(found.slots()) <= problem.key(start.slots()) ? found : start;
}

}  // namespace topoloom
