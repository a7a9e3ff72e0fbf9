// SPDX-License-Identifier: BSD-3-Clause
// Capacities, in mass, of the pieces into which a part is divided.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/place/multilevel/machine_part.hpp"

namespace topoloom::multilevel {

/// Assigns ranks to pieces in order: the cheapest way to finish when time is up.
[[nodiscard]] inline std::vector<Part> assign_in_order(std::span<const Vertex> ranks,
                                                       std::span<const std::int64_t> mass,
                                                       std::vector<std::int64_t> spare) {
    std::vector<Part> piece_of;
    std::uint32_t at = 0;
    for (const Vertex u : ranks) {
        while (at + 1 < spare.size() && spare[at] < mass[u.value]) ++at;
        spare[at] -= mass[u.value];
        piece_of.emplace_back(at);
    }
    return piece_of;
}

/// Capacities of the pieces of a part, given the part's capacity and the mass assigned to it. With one rank
/// per slot, the cut decides where slots stay free. Otherwise, the first divisions may use most of the
/// allowed imbalance, because their cuts cost most. The last divisions need some of it to find good cuts, or
/// any cut if loads differ.
[[nodiscard]] inline std::vector<std::int64_t> compute_piece_capacities(std::span<const MachinePart> pieces,
                                                                        std::int64_t part_capacity,
                                                                        std::int64_t mass,
                                                                        bool one_rank_per_slot) {
    std::vector<std::int64_t> capacity;
    for (const MachinePart& piece : pieces) capacity.push_back(piece.capacity);
    if (one_rank_per_slot || mass == 0) return capacity;
    const double spare = static_cast<double>(part_capacity) / static_cast<double>(mass);
    const bool last = std::ranges::all_of(pieces, [](const MachinePart& piece) { return piece.size() == 1; });
    constexpr double first_share = 0.85;
    const double share = std::pow(spare, last ? 1 : first_share) / spare;
    for (std::int64_t& c : capacity) {
        const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(c)));
        const std::int64_t least = mass - (part_capacity - c);
        c = std::min(c, std::max(wanted, least));
    }
    return capacity;
}

}  // namespace topoloom::multilevel
