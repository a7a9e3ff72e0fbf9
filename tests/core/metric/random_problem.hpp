// SPDX-License-Identifier: BSD-3-Clause
// Random patterns and placements, for comparing the library with reference implementations.
#pragma once

#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

/// A sparse directed pattern with self-messages, duplicates, and messages of 0 bytes.
inline topoloom::CommGraph random_pattern(std::size_t ranks, std::size_t edges, topoloom::Rng& rng) {
    using namespace topoloom;
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    std::vector<std::int64_t> messages;
    for (std::size_t i = 0; i < edges; ++i) {
        sources.emplace_back(rng.below(static_cast<std::uint32_t>(ranks)));
        peers.emplace_back(rng.below(static_cast<std::uint32_t>(ranks)));
        bytes.emplace_back(rng.below(4) == 0 ? 0 : rng.below(1U << 20));
        messages.push_back(rng.below(5));
    }
    return CommGraph::from_edges(ranks, sources, peers, bytes, messages);
}

/// Ranks on random slots of the allocation.
inline topoloom::Placement random_placement(const topoloom::Allocation& allocation, std::size_t ranks,
                                            topoloom::Rng& rng) {
    std::vector<topoloom::Slot> slots(allocation.slots().begin(), allocation.slots().end());
    rng.shuffle(std::span(slots));
    slots.resize(ranks);
    return {allocation, std::move(slots)};
}
