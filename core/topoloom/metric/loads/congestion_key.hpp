// SPDX-License-Identifier: BSD-3-Clause
// What mappers minimize under congestion.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// The busiest link decides; then how many are as busy; then hop-bytes, which guide a search where the others do not.
struct CongestionKey {
    double congestion = 0;             // max over links of bytes / bandwidth; or what another objective is
    std::size_t links_at_maximum = 0;  // 0 where nothing is sent between nodes
    std::int64_t hop_bytes = 0;

    friend auto operator<=>(const CongestionKey&, const CongestionKey&) = default;
};

}  // namespace topoloom
