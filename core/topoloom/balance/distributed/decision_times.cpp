// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/decision_times.hpp"

#include <bit>

namespace topoloom {

DecisionTimes decision_times(std::uint32_t ranks, const DecisionCosts& costs) {
    const auto rounds = static_cast<double>(ranks < 2 ? 0 : std::bit_width(ranks - 1));
    const double all = ranks;
    const double bytes = 8 * all;
    return {rounds * costs.message_s + bytes * costs.byte_s + all * costs.rank_s,
            (7 * rounds + 3) * costs.message_s};
}

}  // namespace topoloom
