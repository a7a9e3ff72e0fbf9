// SPDX-License-Identifier: BSD-3-Clause
// C interface of predicted times of many-to-many operations.
#include <cstddef>
#include <cstdint>

#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/topoloom_schedules.h"
#include "topoloom/schedule/cost/combining_cost.hpp"

using namespace topoloom;

static_assert(TOPOLOOM_DIRECT == static_cast<int>(CombiningStrategy::direct) &&
              TOPOLOOM_MESH == static_cast<int>(CombiningStrategy::mesh) &&
              TOPOLOOM_GRID == static_cast<int>(CombiningStrategy::grid) &&
              TOPOLOOM_HYPERCUBE == static_cast<int>(CombiningStrategy::hypercube));

int topoloom_many_to_many_time(enum topoloom_combining strategy, uint64_t ranks, double degree, double bytes,
                               double alpha, double beta, double* seconds, char* error, size_t error_size) {
    return run_guarded(error, error_size, [&] {
        const auto combining = static_cast<CombiningStrategy>(strategy);
        const CombiningCosts costs{alpha, beta};
        const auto count = static_cast<std::size_t>(ranks);
        const bool is_to_all = degree + 1 >= static_cast<double>(ranks);
        *seconds = is_to_all ? alltoall_time(combining, count, bytes, costs)
                             : many_to_many_time(combining, count, degree, bytes, costs);
    });
}
