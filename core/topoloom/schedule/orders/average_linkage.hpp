// SPDX-License-Identifier: BSD-3-Clause
// Average-linkage clustering.
#pragma once

#include <cstdint>
#include <vector>

namespace topoloom {

/// MeanDistances between things: their sum and their number for each two, row by row.
struct MeanDistances {
    explicit MeanDistances(std::size_t things) : size(things), sum(size * size, 0), count(size * size, 0) {}

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

/// Two groups become one, by things that are in them.
struct ClusterMerge {
    std::uint32_t a = 0, b = 0;
    double sum = 0, count = 0;  // of the distances between them

    [[nodiscard]] double mean() const { return sum / count; }
};

/// All merges, by mean distance. Chains of nearest neighbors, O(size^2). Source: F. Murtagh, A survey of recent advances
/// in hierarchical clustering algorithms, The Computer Journal 26, 1983.
[[nodiscard]] std::vector<ClusterMerge> average_linkage(MeanDistances distances);

/// The group of every thing after the first merges; numbered by their lowest things.
[[nodiscard]] std::vector<std::uint32_t> clusters_after(const std::vector<ClusterMerge>& merges,
                                                        std::size_t first);

}  // namespace topoloom
