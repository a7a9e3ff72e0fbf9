// SPDX-License-Identifier: BSD-3-Clause
// The place of a rank among givers and receivers, from prefix sums.
#pragma once

#include <compare>
#include <cstdint>

#include "topoloom/balance/distributed/tree_scan.hpp"

namespace topoloom {

/// A giver, by the surplus up to and with it; or a receiver, by the deficit before it. In the merged line the first giver
/// after a receiver serves it. Of equal ones the giver is first: it is down to its share, and rests.
struct Element {
    std::int64_t key = 0;
    std::int64_t is_receiver = 0;
    std::int64_t owner = 0;
    std::int64_t tasks = 0;  // that a receiver lacks

    [[nodiscard]] Payload payload() const { return {key, is_receiver, owner, tasks}; }
    [[nodiscard]] static Element of(const Payload& payload) {
        return {payload[0], payload[1], payload[2], payload[3]};
    }
    friend auto operator<=>(const Element&, const Element&) = default;
};

/// The summand of a rank: its kind, and its surplus or deficit relative to the floor of the mean.
[[nodiscard]] Payload summarize_load(std::int64_t sum, std::uint32_t ranks, std::int64_t load);
[[nodiscard]] Payload add_summaries(const Payload& left, const Payload& right);

/// Prefix sums before a rank, and totals.
struct Lines {
    std::int64_t end = 0;  // of its load, as in target_loads()
    std::int64_t givers = 0, receivers = 0, given = 0, received = 0;
    std::int64_t all_receivers = 0, all_given = 0;
    std::uint32_t elements = 0;  // ranks that are not at their end
};

[[nodiscard]] Lines lines_of(std::int64_t sum, std::uint32_t ranks, const ScanResult& around,
                             const Payload& own);

struct Placed {
    Element element;
    bool is_placed = false;  // the rank is not at its end
    std::uint32_t place = 0;
};

/// Receivers backwards, then givers: first falling, then rising keys, which a bitonic network sorts.
[[nodiscard]] Placed place_of(const Lines& lines, std::uint32_t rank, std::int64_t load);

}  // namespace topoloom
