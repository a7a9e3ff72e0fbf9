// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/average_linkage.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace topoloom {

std::vector<ClusterMerge> average_linkage(MeanDistances distances) {
    const std::size_t size = distances.size;
    std::vector<ClusterMerge> merges;
    std::vector<bool> is_merged(size, false);
    std::vector<std::size_t> chain;
    while (merges.size() + 1 < size) {
        if (chain.empty())
            chain.push_back(static_cast<std::size_t>(std::find(is_merged.begin(), is_merged.end(), false) -
                                                     is_merged.begin()));
        const std::size_t end = chain.back();
        // On ties the previous item wins, so that chains end.
        std::size_t nearest = chain.size() > 1 ? chain[chain.size() - 2] : size;
        for (std::size_t other = 0; other < size; ++other) {
            if (other == end || is_merged[other]) continue;
            if (nearest == size || distances.mean(end, other) < distances.mean(end, nearest)) nearest = other;
        }
        if (chain.size() < 2 || nearest != chain[chain.size() - 2]) {
            chain.push_back(nearest);
            continue;
        }
        chain.resize(chain.size() - 2);
        const auto [kept, left] = std::minmax(end, nearest);
        const std::size_t at = kept * size + left;
        merges.push_back({static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(left),
                          distances.sum[at], distances.count[at]});
        is_merged[left] = true;
        for (std::size_t other = 0; other < size; ++other) {
            for (std::vector<double>* values : {&distances.sum, &distances.count}) {
                (*values)[kept * size + other] += (*values)[left * size + other];
                (*values)[other * size + kept] = (*values)[kept * size + other];
            }
        }
    }
    std::stable_sort(merges.begin(), merges.end(),
                     [](const ClusterMerge& a, const ClusterMerge& b) { return a.mean() < b.mean(); });
    return merges;
}

std::vector<std::uint32_t> find_clusters(const std::vector<ClusterMerge>& merges, std::size_t first) {
    std::vector<std::uint32_t> parent(merges.size() + 1);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto top = [&](std::uint32_t item) {
        while (parent[item] != item) item = parent[item];
        return item;
    };
    for (std::size_t i = 0; i < first; ++i) {
        const auto [low, high] = std::minmax({top(merges[i].a), top(merges[i].b)});
        parent[high] = low;
    }
    // The lowest item of a group comes before its other items, so it already has a number.
    std::vector<std::uint32_t> group_number(parent.size());
    std::uint32_t count = 0;
    for (std::uint32_t item = 0; item < parent.size(); ++item)
        group_number[item] = parent[item] == item ? count++ : group_number[top(item)];
    return group_number;
}

}  // namespace topoloom
