// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/sum_of_all.hpp"

#include <algorithm>
#include <bit>

namespace topoloom {

namespace {

std::int64_t add_saturating(std::int64_t left, std::int64_t right) {
    return left < 0 || right < 0 ? -1 : std::min(left + right, too_large);
}

}  // namespace

Coroutine<std::int64_t> sum_of_all(PeerChannel& channel, std::uint32_t rank, std::uint32_t ranks,
                                   std::int64_t load) {
    std::int64_t own = load < 0 ? -1 : std::min(load, too_large);
    std::int64_t after = 0;  // sum without this rank
    std::uint32_t summed = 1;
    for (int step = std::bit_width(ranks - 1) - 1; step >= 0; --step) {
        const std::uint32_t next = ((ranks - 1) >> step) + 1;  // ranks / 2^step, rounded up
        const bool doubles = next == 2 * summed;
        const std::uint32_t distance = next - summed;
        const std::uint32_t to = (rank + ranks - distance) % ranks;
        const std::uint32_t from = (rank + distance) % ranks;
        channel.send(to, Topic::sum, Payload(1, doubles ? own : after));
        const Payload got = co_await channel.receive(from, Topic::sum);
        own = add_saturating(own, got[0]);
        after = add_saturating(after, got[0]);
        summed = next;
    }
    co_return own;
}

}  // namespace topoloom
