// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/bound_problem.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"

namespace topoloom {

std::vector<std::uint32_t> max_ranks_on_slots(std::span<const std::int64_t> masses,
                                              std::span<const std::int64_t> capacities) {
    std::vector<std::int64_t> prefix_mass(masses.begin(), masses.end());
    std::ranges::sort(prefix_mass);
    for (std::size_t i = 1; i < prefix_mass.size(); ++i) prefix_mass[i] += prefix_mass[i - 1];
    std::vector<std::uint32_t> most;
    for (const std::int64_t capacity : capacities) {
        const auto too_many = std::ranges::upper_bound(prefix_mass, capacity);
        most.push_back(static_cast<std::uint32_t>(too_many - prefix_mass.begin()));
    }
    return most;
}

BoundProblem::BoundProblem(const CommGraph& graph, const Allocation& allocation,
                           std::vector<std::uint32_t> capacity, int threads)
    : graph_(graph), allocation_(allocation), capacity_(std::move(capacity)), threads_(threads) {
    if (graph.rank_count() == 0) fail("a pattern without ranks has no placement to bound");
    if (capacity_.empty()) capacity_.assign(allocation.slot_count(), 1);
    if (capacity_.size() != allocation.slot_count())
        fail("the allocation has ", allocation.slot_count(), " slots, but there are ", capacity_.size(),
             " capacities");
    const auto ranks = static_cast<std::uint32_t>(graph.rank_count());
    for (std::uint32_t& most : capacity_) total_capacity_ += most = std::min(most, ranks);
    if (total_capacity_ < ranks)
        fail("the pattern has ", ranks, " ranks, but the allocation has a capacity of ", total_capacity_);
    require_exact_hop_bytes(graph, allocation.machine());
    const auto farthest = std::int64_t{allocation.machine().max_distance()};
    if (farthest > 0 && graph.total_bytes().value > (std::int64_t{1} << 61) / farthest)
        fail("the pattern moves ", graph.total_bytes().value, " bytes over distances of up to ", farthest,
             "; bounds add up twice the hop-bytes, which would exceed 2^62. Scale the bytes down");
    symmetric_ = graph.symmetric();
}

}  // namespace topoloom
