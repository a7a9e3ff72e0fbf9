// SPDX-License-Identifier: BSD-3-Clause
// Networks of neighboring ranks along which load flows.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// In a ring, each rank is joined with the next; in a hypercube, with the existing ranks whose numbers differ
/// in one bit.
enum class NeighborRule { ring, hypercube };

inline constexpr std::size_t no_pair = std::numeric_limits<std::size_t>::max();

/// Two ranks, the lower first.
struct RankPair {
    std::uint32_t low;
    std::uint32_t high;
};

/// A connected graph of ranks. Pairs are sorted by their lower rank, then by their higher rank.
struct RankNetwork {
    std::size_t ranks = 0;
    std::vector<RankPair> pairs;
    std::vector<std::uint32_t> degree;  // by rank
    /// By rank: the pair of the rank and its parent in a spanning tree; no_pair for rank 0. Parents have lower numbers.
    std::vector<std::size_t> pair_to_root;
};

[[nodiscard]] RankNetwork make_rank_network(NeighborRule rule, std::size_t ranks);

/// Tasks that flow along each pair, positive from the lower rank to the higher.
using Flow = std::vector<double>;

/// Rounds a flow that removes the excess of each rank to whole tasks. Tree edges carry the remainder exactly,
/// so that no excess remains. Cycles of flow are removed.
[[nodiscard]] Plan convert_flow_to_plan(const RankNetwork& network, const Flow& flow,
                                        std::vector<std::int64_t> excess);

/// Converts an integer flow without rounding. Cycles of flow are removed.
[[nodiscard]] Plan convert_flow_to_plan(const RankNetwork& network, std::vector<std::int64_t> flow);

}  // namespace topoloom
