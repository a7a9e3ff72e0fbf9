// SPDX-License-Identifier: BSD-3-Clause
// Chooses the objective if the user names none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/metric/objective.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

struct ObjectiveChoice {
    ObjectiveKind objective;
    std::string reason;  // one line of text for the user
};

/// Chooses `time` if the machine has bandwidths, whether messages are bandwidth-bound or latency-bound; else
/// hop-bytes, which favors messages inside nodes and short routes. Problem::with_objective() explains `phases`
/// and `background`. O(edges * hops).
[[nodiscard]] ObjectiveChoice choose_objective(const Problem& problem, std::vector<const CommGraph*> phases,
                                               std::span<const double> background);

}  // namespace topoloom
