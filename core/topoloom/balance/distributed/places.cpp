// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/places.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

namespace topoloom {

namespace {

// Kinds of ranks in the order in which they get the ceiling, as in target_loads(); then two sums of tasks.
constexpr std::size_t at_ceiling = 0, above = 1, below = 2, at_floor = 3, surplus = 4, deficit = 5;

/// Number of ranks of each kind that get the ceiling: the lowest ranks of the kind.
using Quota = std::array<std::int64_t, 4>;

Quota quota_of(std::int64_t with_one_more, const Payload& all) {
    Quota quota{};
    for (std::size_t kind = 0; kind < quota.size(); ++kind) {
        quota[kind] = std::min(all[kind], with_one_more);
        with_one_more -= quota[kind];
    }
    return quota;
}

struct LineSums {
    std::int64_t givers, receivers, given, received;
};

LineSums line_sums(const Payload& kinds, const Quota& quota) {
    const auto at_end = [&](std::size_t kind) { return std::min(kinds[kind], quota[kind]); };
    const std::int64_t over = kinds[at_ceiling] - at_end(at_ceiling);
    return {over + kinds[above], kinds[below] + at_end(at_floor), over + kinds[surplus] - at_end(above),
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

Lines lines_of(std::int64_t sum, std::uint32_t ranks, const ScanResult& around, const Payload& own) {
    const Payload all = add_summaries(add_summaries(around.before, own), around.after);
    const Quota quota = quota_of(sum % ranks, all);
    const LineSums before = line_sums(around.before, quota);
    const LineSums total = line_sums(all, quota);
    const auto kind = static_cast<std::size_t>(std::ranges::find(own, 1) - own.begin());
    Lines lines{.end = sum / ranks + (around.before[kind] < quota[kind] ? 1 : 0)};
    lines.givers = before.givers;
    lines.receivers = before.receivers;
    lines.given = before.given;
    lines.received = before.received;
    lines.all_receivers = total.receivers;
    lines.all_given = total.given;
    lines.elements = static_cast<std::uint32_t>(total.givers + total.receivers);
    return lines;
}

Placed place_of(const Lines& lines, std::uint32_t rank, std::int64_t load) {
    const std::int64_t excess = load - lines.end;
    if (excess == 0) return {};
    if (excess > 0)
        return {{lines.given + excess, 0, rank, 0},
                true,
                static_cast<std::uint32_t>(lines.all_receivers + lines.givers)};
    return {{lines.received, 1, rank, -excess},
            true,
            static_cast<std::uint32_t>(lines.all_receivers - 1 - lines.receivers)};
}

}  // namespace topoloom
