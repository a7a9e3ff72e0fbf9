// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/hop_bytes.hpp"

#include <limits>

#include "topoloom/base/error.hpp"

namespace topoloom {

void require_exact_hop_bytes(const CommGraph& graph, const Machine& machine) {
    const std::int64_t farthest = machine.max_distance();
    if (farthest > 0 && graph.total_bytes().value > std::numeric_limits<std::int64_t>::max() / farthest) {
        fail("the pattern moves ", graph.total_bytes().value, " bytes over distances of up to ", farthest,
             "; hop-bytes would exceed 2^63. Scale the bytes down");
    }
}

void require_placed(const CommGraph& graph, const Machine& machine, std::span<const Slot> slot_of_rank) {
    if (slot_of_rank.size() != graph.rank_count()) {
        fail("the pattern has ", graph.rank_count(), " ranks, but the placement has ", slot_of_rank.size());
    }
    for (const Slot slot : slot_of_rank) {
        if (slot.value >= machine.slot_count()) {
            fail("the placement uses slot ", slot.value, ", but the machine has only ", machine.slot_count(),
                 " slots");
        }
    }
}

std::int64_t hop_bytes(const CommGraph& graph, const Machine& machine, std::span<const Slot> slot_of_rank,
                       int threads) {
    require_placed(graph, machine, slot_of_rank);
    require_exact_hop_bytes(graph, machine);
    return with_space(machine, [&](const auto& space) {
        const auto points = points_of(space, slot_of_rank);
        return parallel_sum<std::int64_t>(
            Chunks(graph.rank_count(), ranks_per_chunk), threads, [&](Chunk ranks) {
                std::int64_t sum = 0;
                for (std::size_t u = ranks.begin; u < ranks.end; ++u) {
                    const auto here = points[u];
                    const std::span<const Rank> peers = graph.peers(Rank{u});
                    const std::span<const Bytes> bytes = graph.bytes(Rank{u});
                    for (std::size_t i = 0; i < peers.size(); ++i) {
                        sum += bytes[i].value *
                               static_cast<std::int64_t>(space.distance(here, points[peers[i].value]));
                    }
                }
                return sum;
            });
    });
}

}  // namespace topoloom
