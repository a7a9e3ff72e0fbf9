// SPDX-License-Identifier: BSD-3-Clause
// Matches surplus with deficits, closest ranks first, in growing parts of an order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// Ranks with too many tasks or too few, in an order of near ones.
struct NearExcess {
    std::vector<std::uint32_t> ranks;
    std::vector<std::int64_t> excess;  // of tasks, never 0; of all together 0
    std::vector<std::uint64_t>
        met_after;  // by rank but the last: when it meets the next one; see meeting_times()
};

/// Leaves out the ranks without an excess, which is given by rank.
[[nodiscard]] NearExcess near_excess(std::span<const std::uint32_t> order,
                                     std::span<const std::uint64_t> times,
                                     std::span<const std::int64_t> excess);

/// Between ranks by their place in the order.
struct Shipment {
    std::uint32_t giver;
    std::uint32_t receiver;
    std::int64_t tasks;
};

/// Parts of the order grow as their neighbors meet; whatever can be is matched inside a part, those that face each other first,
/// so that no more than its own excess leaves a part. One of two that are matched is done, so shipments have no cycles.
/// O(ranks log ranks).
[[nodiscard]] std::vector<Shipment> match_near(const NearExcess& near);

}  // namespace topoloom
