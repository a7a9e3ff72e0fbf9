// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/replicas.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

namespace topoloom {

namespace {

/// Adds `left` replicas, each to the expert with the largest load per replica; no GPU has two replicas of an
/// expert.
void add_by_load(std::span<const double> loads, std::size_t gpus, std::size_t left,
                 std::vector<std::uint32_t>& counts) {
    using Entry = std::pair<double, std::int64_t>;  // ties: the lower expert first
    std::priority_queue<Entry> busiest;
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
        if (counts[expert] < gpus)
            busiest.emplace(loads[expert] / counts[expert], -static_cast<std::int64_t>(expert));
    }
    while (left > 0 && !busiest.empty()) {
        const auto expert = static_cast<std::size_t>(-busiest.top().second);
        busiest.pop();
        ++counts[expert];
        --left;
        if (counts[expert] < gpus)
            busiest.emplace(loads[expert] / counts[expert], -static_cast<std::int64_t>(expert));
    }
}

}  // namespace

std::vector<std::uint32_t> count_replicas_by_load(std::span<const double> loads, const ExpertGpus& gpus) {
    std::vector<std::uint32_t> counts(loads.size(), 1);
    add_by_load(loads, gpus.count(), gpus.places() - loads.size(), counts);
    return counts;
}

std::vector<std::uint32_t> count_replicas_by_node(std::span<const double> loads, const ExpertGpus& gpus,
                                                  double most) {
    const std::size_t nodes = gpus.nodes();
    std::vector<std::uint32_t> counts(loads.size(), 1);
    std::size_t left = gpus.places();
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
        const double wanted = std::ceil(loads[expert] / most);
        if (!(wanted <= static_cast<double>(gpus.count()))) return {};
        auto count = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
        if (count > nodes) count = (count + nodes - 1) / nodes * nodes;
        if (count > gpus.count() || count > left) return {};
        counts[expert] = static_cast<std::uint32_t>(count);
        left -= count;
    }
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    for (const std::size_t expert : order) {
        if (counts[expert] >= nodes) continue;
        const std::size_t more = std::min(left, nodes - counts[expert]);
        counts[expert] += static_cast<std::uint32_t>(more);
        left -= more;
    }
    add_by_load(loads, gpus.count(), left, counts);
    return counts;
}

std::vector<ExpertReplica> list_replicas(std::span<const double> loads,
                                         std::span<const std::uint32_t> counts) {
    std::vector<ExpertReplica> replicas;
    for (std::uint32_t expert = 0; expert < loads.size(); ++expert) {
        for (std::uint32_t i = 0; i < counts[expert]; ++i)
            replicas.push_back({expert, loads[expert] / counts[expert]});
    }
    return replicas;
}

}  // namespace topoloom
