// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/matching.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "topoloom/base/id.hpp"

namespace topoloom {

OrderedExcess select_ordered_excess(std::span<const std::uint32_t> order,
                                    std::span<const std::uint64_t> times,
                                    std::span<const std::int64_t> excess) {
    OrderedExcess near;
    std::uint64_t latest = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (excess[order[i]] != 0) {
            if (!near.ranks.empty()) near.meeting_time.push_back(latest);
            near.ranks.push_back(order[i]);
            near.excess.push_back(excess[order[i]]);
            latest = 0;
        }
        if (i < times.size()) latest = std::max(latest, times[i]);
    }
    return near;
}

std::vector<Shipment> match_near(const OrderedExcess& near) {
    const auto count = static_cast<std::uint32_t>(near.ranks.size());
    std::vector<Shipment> shipments;
    shipments.reserve(count);
    std::vector<std::int64_t> left = near.excess;
    // Parts are identified by their first or last position. Each has a list of its positions with remaining
    // excess, all of one sign.
    std::vector<std::uint32_t> begin(count), end(count), head(count), tail(count);
    std::vector<std::uint32_t> next(count, no_index), before(count, no_index);
    for (std::uint32_t i = 0; i < count; ++i) begin[i] = end[i] = head[i] = tail[i] = i;
    std::vector<std::uint32_t> meetings(count > 0 ? count - 1 : 0);
    std::iota(meetings.begin(), meetings.end(), 0U);
    std::ranges::stable_sort(meetings, {}, [&](std::uint32_t i) { return near.meeting_time[i]; });
    for (const std::uint32_t i : meetings) {
        const std::uint32_t low = begin[i];
        const std::uint32_t high = i + 1;
        std::uint32_t a = tail[low];
        std::uint32_t b = head[high];
        while (a != no_index && b != no_index && (left[a] > 0) != (left[b] > 0)) {
            const std::int64_t tasks = std::min(std::abs(left[a]), std::abs(left[b]));
            if (left[a] > 0)
                shipments.push_back({a, b, tasks});
            else
                shipments.push_back({b, a, tasks});
            const std::int64_t change = left[a] > 0 ? tasks : -tasks;
            left[a] -= change;
            left[b] += change;
            if (left[a] == 0) a = before[a];
            if (left[b] == 0) b = next[b];
        }
        if (a != no_index) next[a] = b;
        if (b != no_index) before[b] = a;
        if (a == no_index) head[low] = b;
        tail[low] = b == no_index ? a : tail[high];
        end[low] = end[high];
        begin[end[low]] = low;
    }
    return shipments;
}

}  // namespace topoloom
