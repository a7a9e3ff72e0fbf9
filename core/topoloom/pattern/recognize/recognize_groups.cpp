// SPDX-License-Identifier: BSD-3-Clause
// Recognition of equal groups with alltoall inside, and no or lighter messages between groups.
#include <algorithm>

#include "topoloom/base/id.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"

namespace topoloom {

namespace {

/// Returns the edges of a rank, sorted by decreasing bytes.
std::vector<Edge> sort_by_bytes(const CommGraph& graph, Rank u) {
    std::vector<Edge> edges;
    for (const Edge edge : graph.sends(u)) edges.push_back(edge);
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.bytes.value > b.bytes.value; });
    return edges;
}

/// Whether every rank exchanges at least `heavy` bytes with exactly the `size` - 1 others of its group.
/// Sets the group of every rank. Stops at the first rank that does not fit. O(edges * log degree).
bool split_into_groups(const CommGraph& graph, std::int64_t heavy, std::size_t size,
                       std::vector<std::vector<Rank>>& groups) {
    std::vector<std::uint32_t> group_of(graph.rank_count(), no_index);
    groups.clear();
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        const auto peers = graph.peers(u);
        const auto bytes = graph.bytes(u);
        if (group_of[u.value] == no_index) {
            const auto own = static_cast<std::uint32_t>(groups.size());
            groups.push_back({u});
            group_of[u.value] = own;
            for (std::size_t i = 0; i < peers.size(); ++i) {
                if (bytes[i].value < heavy) continue;
                if (group_of[peers[i].value] != no_index) return false;
                group_of[peers[i].value] = own;
                groups.back().push_back(peers[i]);
            }
            if (groups.back().size() != size) return false;
        }
        std::size_t inside = 0;
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const bool same = group_of[peers[i].value] == group_of[u.value];
            if (same != (bytes[i].value >= heavy)) return false;
            inside += same ? 1 : 0;
        }
        if (inside + 1 != size) return false;
    }
    return true;
}

}  // namespace

std::optional<GridPattern> find_groups(const CommGraph& symmetric) {
    const std::size_t n = symmetric.rank_count();
    const std::vector<Edge> edges = sort_by_bytes(symmetric, Rank{0});
    constexpr int max_tries = 4;
    int tries = 0;
    for (std::size_t k = 1; k <= edges.size() && tries < max_tries; ++k) {
        const std::int64_t heavy = edges[k - 1].bytes.value;
        if (heavy == 0) break;
        const std::int64_t light = k < edges.size() ? edges[k].bytes.value : 0;
        if (2 * light > heavy || n % (k + 1) != 0 || k + 1 == n) continue;
        // Bytes can vary slightly between ranks, so put the limit in the middle of the gap.
        const std::int64_t limit = k < edges.size() ? heavy - (heavy - light) / 2 : 1;
        ++tries;
        std::vector<std::vector<Rank>> groups;
        if (!split_into_groups(symmetric, limit, k + 1, groups)) continue;
        GridPattern pattern;
        const auto size = static_cast<std::uint32_t>(k + 1);
        pattern.axes = {{static_cast<std::uint32_t>(groups.size()), AxisKind::apart},
                        {size, size == 2 ? AxisKind::path : AxisKind::clique}};
        for (const auto& group : groups) {
            pattern.rank_of_cell.insert(pattern.rank_of_cell.end(), group.begin(), group.end());
        }
        pattern.weight = {0, static_cast<double>(heavy)};
        return pattern;
    }
    return std::nullopt;
}

}  // namespace topoloom
