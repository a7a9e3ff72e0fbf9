// SPDX-License-Identifier: BSD-3-Clause
// Positions of ranks in the lines of senders and receivers, from prefix sums.
#pragma once

#include <compare>
#include <cstdint>

#include "topoloom/balance/distributed/tree_scan.hpp"

namespace topoloom {

/// A rank in the merged line of senders and receivers. The key of a sender is the surplus up to and including
/// it; the key of a receiver is the deficit before it. The first sender after a receiver serves it. On equal
/// keys the sender comes first: its surplus is used up.
struct LineElement {
    std::int64_t key = 0;
    std::int64_t is_receiver = 0;
    std::int64_t owner = 0;
    std::int64_t tasks = 0;  // deficit of a receiver

    [[nodiscard]] Payload payload() const { return {key, is_receiver, owner, tasks}; }
    [[nodiscard]] static LineElement of(const Payload& payload) {
        return {payload[0], payload[1], payload[2], payload[3]};
    }
    friend auto operator<=>(const LineElement&, const LineElement&) = default;
};

/// What a rank contributes to the scan: its kind, and its surplus or deficit relative to the floor of the
/// mean.
[[nodiscard]] Payload summarize_load(std::int64_t sum, std::uint32_t ranks, std::int64_t load);
[[nodiscard]] Payload add_summaries(const Payload& left, const Payload& right);

/// Sums over all ranks before a rank, and totals.
struct PrefixSums {
    std::int64_t end = 0;  // target load, as in target_loads()
    std::int64_t senders = 0, receivers = 0, given = 0, received = 0;
    std::int64_t all_receivers = 0, all_sent = 0;
    std::uint32_t elements = 0;  // number of ranks that are not at their target
};

[[nodiscard]] PrefixSums compute_prefix_sums(std::int64_t sum, std::uint32_t ranks, const ScanResult& around,
                                             const Payload& own);

struct ElementPosition {
    LineElement element;
    bool has_position = false;  // false if the rank is at its target
    std::uint32_t place = 0;
};

/// Receivers come first, in reverse, then senders: the keys thus first descend, then ascend, so that a
/// bitonic network can merge them.
[[nodiscard]] ElementPosition find_position(const PrefixSums& prefix_sums, std::uint32_t rank,
                                            std::int64_t load);

}  // namespace topoloom
