// SPDX-License-Identifier: BSD-3-Clause
// Average-linkage clustering.
#pragma once

#include <cstdint>
#include <vector>

namespace topoloom {

/// Sum and number of the distances between every pair of items, row by row.
struct MeanDistances {
    explicit MeanDistances(std::size_t items) : size(items), sum(size * size, 0), count(size * size, 0) {}

    void add(std::size_t a, std::size_t b, double distance) {
        for (const std::size_t at : {a * size + b, b * size + a}) {
            sum[at] += distance;
            count[at] += 1;
        }
    }
    [[nodiscard]] double mean(std::size_t a, std::size_t b) const {
        return sum[a * size + b] / count[a * size + b];
    }

    std::size_t size;
    std::vector<double> sum;
    std::vector<double> count;
};

/// A merge of two groups, each identified by one of its items.
struct ClusterMerge {
    std::uint32_t a = 0, b = 0;
    double sum = 0, count = 0;  // of distances between the two groups

    [[nodiscard]] double mean() const { return sum / count; }
};

/// Computes all merges in order of their mean distance. Nearest-neighbor chains, O(size^2). Source: F.
/// Murtagh, A survey of recent advances in hierarchical clustering algorithms, The Computer Journal 26, 1983.
[[nodiscard]] std::vector<ClusterMerge> average_linkage(MeanDistances distances);

/// Returns the group of every item after the merges before index `first`. Groups are numbered in order of
/// their lowest item.
[[nodiscard]] std::vector<std::uint32_t> find_clusters(const std::vector<ClusterMerge>& merges,
                                                       std::size_t first);

}  // namespace topoloom
