// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/links/local_opt.hpp"

#include "topoloom/metric/objective_loads.hpp"
#include "topoloom/place/links/congestion_descent.hpp"
#include "topoloom/place/state/no_worse.hpp"

namespace topoloom {

Placement improve_by_local_opt(const Problem& problem, Placement start, Meter& meter) {
    const Goal goal = problem.goal_on_links();
    return no_worse(problem, std::move(start), [&](const Placement& from) {
        return with_loads(problem.machine(), goal, [&](const auto& make) {
            auto loads = make(from.slots());
            CongestionDescent(loads, problem.allocation()).run(meter);
            return Placement(problem.allocation(), loads.slots());
        });
    });
}

}  // namespace topoloom
