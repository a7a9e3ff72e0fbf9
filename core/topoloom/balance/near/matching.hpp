// SPDX-License-Identifier: BSD-3-Clause
// Matches surplus with deficits, nearest ranks first, in growing parts of an order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// Ranks with a surplus or deficit, in a locality-preserving order.
struct OrderedExcess {
    std::vector<std::uint32_t> ranks;
    std::vector<std::int64_t> excess;  // in tasks; never 0; the sum is 0
    /// For each rank but the last: when its part merges with that of the next rank; see meeting_times().
    std::vector<std::uint64_t> meeting_time;
};

/// Selects the ranks with an excess; `excess` is indexed by rank.
[[nodiscard]] OrderedExcess select_ordered_excess(std::span<const std::uint32_t> order,
                                                  std::span<const std::uint64_t> times,
                                                  std::span<const std::int64_t> excess);

/// A transfer between two ranks, given by their positions in the order.
struct Shipment {
    std::uint32_t sender;
    std::uint32_t receiver;
    std::int64_t tasks;
};

/// Adjacent parts of the order merge in the order of their meeting times. Within a merged part, surplus is
/// matched with deficits, beginning where the two parts touch, so that only the net excess leaves a part. A
/// match completes at least one of its two ranks, so shipments have no cycles. O(ranks log ranks).
[[nodiscard]] std::vector<Shipment> match_near(const OrderedExcess& near);

}  // namespace topoloom
