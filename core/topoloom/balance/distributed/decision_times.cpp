// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/decision_times.hpp"

#include <bit>
#include <limits>

namespace topoloom {

DecisionTimes decision_times(const DecidingRanks& deciding, const DecisionCosts& costs) {
    const auto [ranks, nodes, smallest_node] = deciding;
    const auto rounds = static_cast<double>(ranks < 2 ? 0 : std::bit_width(ranks - 1));
    const double all = ranks;
    const double alone = 8 * all * costs.byte_s + all * costs.rank_s;
    DecisionTimes times;
    times.gathered = rounds * costs.message_s + alone;
    // Besides one number per message, scans send 58 numbers per round on the critical path: payloads of
    // several numbers, to two ranks over one link.
    constexpr double round_bytes = 8 * 58;
    times.distributed = (7 * rounds + 3) * costs.message_s + rounds * round_bytes * costs.byte_s;
    times.by_node = std::numeric_limits<double>::infinity();
    if (nodes > 1) {
        const double sent = (nodes + smallest_node - 1) / smallest_node;
        const double messages = 1 + (sent - 1) * costs.further_message + costs.node_exchange;
        times.by_node = messages * costs.message_s + alone;
    }
    return times;
}

}  // namespace topoloom
