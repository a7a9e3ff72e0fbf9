// SPDX-License-Identifier: BSD-3-Clause
// What the routes between the nodes of an allocation have in common.
#pragma once

#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::bound {

struct RouteSurvey {
    std::vector<char> is_used{};  // by link: on a route; all links if routes are unknown
    double bandwidth = 0;         // total of the working links in use
    bool is_known = false;        // whether routes are independent of load, and were examined
    bool is_split = true;         // whether some message may take several routes
    /// Minimum over all routes of the seconds per byte on the busiest link of the route; 0 if unknown.
    double seconds_per_byte = 0;
};

/// Routes are unknown if they depend on the load, or if their total length exceeds 5 * 10^7 links or the
/// budget.
[[nodiscard]] RouteSurvey survey_routes(const Allocation& allocation, Meter& meter);

}  // namespace topoloom::bound
