// SPDX-License-Identifier: BSD-3-Clause
// Which items may be worked on side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/base/parallel.hpp"
#include "topoloom/place/weighted_graph.hpp"

namespace topoloom {

/// Batches of item numbers, no two of a batch being neighbors: the smallest color that no earlier neighbor has. What
/// one item changes, no other of its batch sees, so that order and threads do not matter. O(neighbors).
[[nodiscard]] inline std::vector<std::vector<std::uint32_t>> independent_batches(
    std::span<const std::vector<std::uint32_t>> neighbors) {
    std::vector<std::vector<std::uint32_t>> batches;
    std::vector<std::uint32_t> color(neighbors.size());
    std::vector<char> used;
    for (std::uint32_t i = 0; i < neighbors.size(); ++i) {
        used.assign(batches.size() + 1, 0);
        for (const std::uint32_t j : neighbors[i]) {
            if (j < i) used[color[j]] = 1;
        }
        color[i] = static_cast<std::uint32_t>(std::ranges::find(used, char{0}) - used.begin());
        if (color[i] == batches.size()) batches.emplace_back();
        batches[color[i]].push_back(i);
    }
    return batches;
}

constexpr std::uint32_t no_item = std::numeric_limits<std::uint32_t>::max();

/// The same for items made of parts of a graph; neighbors have edges in common. `ranks(p)` are those of part p, `item`
/// tells of every part which of `count` items it belongs to, or no_item. O(edges), on all cores.
template <class Ranks>
[[nodiscard]] std::vector<std::vector<std::uint32_t>> independent_batches(
    const WeightedGraph& graph, const Ranks& ranks, std::span<const std::uint32_t> part_of,
    std::span<const std::uint32_t> item, std::uint32_t count, int threads) {
    std::vector<std::vector<std::uint32_t>> beside_part(item.size());
    parallel_for(item.size(), threads, [&](std::size_t p, int) {
        if (item[p] == no_item) return;
        std::vector<std::uint32_t>& found = beside_part[p];
        for (const std::uint32_t u : ranks(p)) {
            for (const std::uint32_t v : graph.peers(u)) {
                const std::uint32_t other = item[part_of[v]];
                if (other == item[p] || other == no_item) continue;
                if (found.empty() || found.back() != other) found.push_back(other);
            }
        }
        std::ranges::sort(found);
        found.erase(std::ranges::unique(found).begin(), found.end());
    });
    std::vector<std::vector<std::uint32_t>> beside(count);
    for (std::size_t p = 0; p < item.size(); ++p) {
        if (item[p] != no_item)
            beside[item[p]].insert(beside[item[p]].end(), beside_part[p].begin(), beside_part[p].end());
    }
    return independent_batches(beside);
}

}  // namespace topoloom
