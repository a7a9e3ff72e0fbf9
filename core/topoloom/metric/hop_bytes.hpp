// SPDX-License-Identifier: BSD-3-Clause
// Hop-bytes: the sum over all messages of bytes times distance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Throws Error if the hop-bytes can reach 2^63. Below that limit all sums are exact.
void require_exact_hop_bytes(const CommGraph& graph, const Machine& machine);

/// Throws Error unless every rank has a valid slot.
void require_placed(const CommGraph& graph, const Machine& machine, std::span<const Slot> slot_of_rank);

/// Returns the sum over directed edges of bytes times Machine::distance (Agarwal, Sharma, Kale, IPDPS 2006).
/// Each message counts once. O(edges), on all cores.
[[nodiscard]] std::int64_t hop_bytes(const CommGraph& graph, const Machine& machine,
                                     std::span<const Slot> slot_of_rank, int threads = 0);

/// Returns the point of each rank, so that loops over edges do not need to access slots and nodes.
template <class Space>
[[nodiscard]] std::vector<typename Space::Point> points_of(const Space& space,
                                                           std::span<const Slot> slot_of_rank) {
    std::vector<typename Space::Point> points;
    points.reserve(slot_of_rank.size());
    for (const Slot slot : slot_of_rank) points.push_back(space.point(slot));
    return points;
}

/// Number of ranks per chunk in parallel loops.
inline constexpr std::size_t ranks_per_chunk = 4096;

}  // namespace topoloom
