// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/line_positions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

namespace topoloom {

namespace {

// Kinds of ranks, in the order in which target_loads() assigns the ceiling to them; then the indexes of two
// sums of tasks.
constexpr std::size_t at_ceiling = 0, above = 1, below = 2, at_floor = 3, surplus = 4, deficit = 5;

/// How many ranks of each kind have the ceiling as their target: the lowest ranks of the kind.
using CeilingQuota = std::array<std::int64_t, 4>;

CeilingQuota compute_quota(std::int64_t at_ceiling_count, const Payload& all) {
    CeilingQuota quota{};
    for (std::size_t kind = 0; kind < quota.size(); ++kind) {
        quota[kind] = std::min(all[kind], at_ceiling_count);
        at_ceiling_count -= quota[kind];
    }
    return quota;
}

struct LineSums {
    std::int64_t senders, receivers, given, received;
};

LineSums compute_line_sums(const Payload& kinds, const CeilingQuota& quota) {
    const auto at_end = [&](std::size_t kind) { return std::min(kinds[kind], quota[kind]); };
    const std::int64_t above_ceiling = kinds[at_ceiling] - at_end(at_ceiling);
    return {above_ceiling + kinds[above], kinds[below] + at_end(at_floor),
            above_ceiling + kinds[surplus] - at_end(above),
            kinds[deficit] + at_end(below) + at_end(at_floor)};
}

}  // namespace

Payload summarize_load(std::int64_t sum, std::uint32_t ranks, std::int64_t load) {
    Payload payload(6);
    const std::int64_t more = load - sum / ranks;
    if (more == 1 && sum % ranks > 0)
        payload[at_ceiling] = 1;
    else
        payload[more > 0 ? above : more < 0 ? below : at_floor] = 1;
    if (payload[above] == 1) payload[surplus] = more;
    if (payload[below] == 1) payload[deficit] = -more;
    return payload;
}

Payload add_summaries(const Payload& left, const Payload& right) {
    Payload sum(left.size());
    std::ranges::transform(left, right, sum.begin(), std::plus());
    return sum;
}

PrefixSums compute_prefix_sums(std::int64_t sum, std::uint32_t ranks, const ScanResult& around,
                               const Payload& own) {
    const Payload all = add_summaries(add_summaries(around.before, own), around.after);
    const CeilingQuota quota = compute_quota(sum % ranks, all);
    const LineSums before = compute_line_sums(around.before, quota);
    const LineSums total = compute_line_sums(all, quota);
    const auto kind = static_cast<std::size_t>(std::ranges::find(own, 1) - own.begin());
    PrefixSums prefix_sums{.end = sum / ranks + (around.before[kind] < quota[kind] ? 1 : 0)};
    prefix_sums.senders = before.senders;
    prefix_sums.receivers = before.receivers;
    prefix_sums.given = before.given;
    prefix_sums.received = before.received;
    prefix_sums.all_receivers = total.receivers;
    prefix_sums.all_sent = total.given;
    prefix_sums.elements = static_cast<std::uint32_t>(total.senders + total.receivers);
    return prefix_sums;
}

ElementPosition find_position(const PrefixSums& prefix_sums, std::uint32_t rank, std::int64_t load) {
    const std::int64_t excess = load - prefix_sums.end;
    if (excess == 0) return {};
    if (excess > 0)
        return {{prefix_sums.given + excess, 0, rank, 0},
                true,
                static_cast<std::uint32_t>(prefix_sums.all_receivers + prefix_sums.senders)};
    return {{prefix_sums.received, 1, rank, -excess},
            true,
            static_cast<std::uint32_t>(prefix_sums.all_receivers - 1 - prefix_sums.receivers)};
}

}  // namespace topoloom
