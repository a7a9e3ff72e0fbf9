// SPDX-License-Identifier: BSD-3-Clause
// Comparison key of placements under congestion.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// Compares congestion of the busiest link, then the number of links with this congestion, then hop-bytes,
/// which guide a search on plateaus.
struct CongestionKey {
    double congestion = 0;             // max over links of bytes / bandwidth, or another objective
    std::size_t links_at_maximum = 0;  // 0 if there are no inter-node messages
    std::int64_t hop_bytes = 0;

    friend auto operator<=>(const CongestionKey&, const CongestionKey&) = default;
};

}  // namespace topoloom
