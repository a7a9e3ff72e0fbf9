// SPDX-License-Identifier: BSD-3-Clause
// Chooses the objective where the user names none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/metric/objective.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

struct ObjectiveChoice {
    ObjectiveKind objective;
    std::string reason;  // one line, for people
};

/// `time`, where the machine's bandwidths are known and messages are large enough for the placement's loads to matter;
/// else hop-bytes, which also keep messages inside nodes and routes short. `phases` and `background` are those of
/// Problem::with_objective(). O(edges * hops).
[[nodiscard]] ObjectiveChoice choose_objective(const Problem& problem, std::vector<const CommGraph*> phases,
                                               std::span<const double> background);

}  // namespace topoloom
