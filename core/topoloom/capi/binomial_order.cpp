// SPDX-License-Identifier: BSD-3-Clause
// C interface of orders for binomial trees.
#include "topoloom/schedule/orders/binomial_order.hpp"

#include <algorithm>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/topoloom.h"

using namespace topoloom;

int topoloom_binomial_order(size_t processes, const double* seconds, const char* order, size_t root,
                            uint32_t channels, uint64_t seed, uint32_t* process_of_rank, char* error,
                            size_t error_size) {
    return run_guarded(error, error_size, [&] {
        const BinomialOrder wanted = parse_binomial_order(order);
        const auto find = [&] {
            if (seconds == nullptr) return cost_independent_order(processes, wanted, Rank{root}, seed);
            const CostMatrix costs(processes, {seconds, seconds + processes * processes});
            return measured_binomial_order(costs, wanted, Rank{root}, channels, seed);
        };
        std::ranges::transform(find(), process_of_rank, [](Rank rank) { return rank.value; });
    });
}
