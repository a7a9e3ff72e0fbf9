// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/local_opt.hpp"

#include "topoloom/place/congestion_descent.hpp"

namespace topoloom {

Placement improve_by_local_opt(const Problem& problem, Placement start, Meter& meter) {
    return with_link_loads(problem.machine(), problem.graph(), start.slots(), {}, [&](auto& loads) {
        CongestionDescent(loads, problem.allocation()).run(meter);
        return Placement(problem.allocation(), loads.slots());
    });
}

}  // namespace topoloom
