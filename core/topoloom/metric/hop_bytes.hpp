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

/// Throws Error if bytes times distance could add up to 2^63, so that sums below are always exact.
void require_exact_hop_bytes(const CommGraph& graph, const Machine& machine);

/// Throws Error unless there is a slot of the machine for every rank of the graph.
void require_placed(const CommGraph& graph, const Machine& machine, std::span<const Slot> slot_of_rank);

/// Sum over directed edges of bytes times Machine::distance (Agarwal, Sharma, Kale, IPDPS 2006). Each message counts
/// once. O(edges), on all cores.
[[nodiscard]] std::int64_t hop_bytes(const CommGraph& graph, const Machine& machine,
                                     std::span<const Slot> slot_of_rank, int threads = 0);

/// The points of all ranks: gathered once, so that loops over edges touch neither slots nor nodes.
template <class Space>
[[nodiscard]] std::vector<typename Space::Point> points_of(const Space& space,
                                                           std::span<const Slot> slot_of_rank) {
    std::vector<typename Space::Point> points;
    points.reserve(slot_of_rank.size());
    for (const Slot slot : slot_of_rank) points.push_back(space.point(slot));
    return points;
}

/// Ranks are cut in chunks of this many for work on all cores.
inline constexpr std::size_t ranks_per_chunk = 4096;

}  // namespace topoloom
