// SPDX-License-Identifier: BSD-3-Clause
// Neighbors among ranks, along which loads flow.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/balance/plan.hpp"

namespace topoloom {

/// In a ring every rank has the next one; in a hypercube those whose numbers differ in one bit, where they exist.
enum class Neighbors { ring, hypercube };

/// Two ranks, the lower first.
struct RankPair {
    std::uint32_t low;
    std::uint32_t high;
};

/// A connected graph of ranks. Pairs are ascending by their lower rank, then by their higher.
struct RankNetwork {
    std::size_t ranks = 0;
    std::vector<RankPair> pairs;
    std::vector<std::uint32_t> degree;      // by rank
    std::vector<std::size_t> pair_to_root;  // by rank, of a tree over all pairs; of rank 0 none
};

[[nodiscard]] RankNetwork rank_network(Neighbors neighbors, std::size_t ranks);

/// Tasks that flow along each pair, from its lower rank to its higher one where positive.
using Flow = std::vector<double>;

/// The plan of a flow that takes away the excess of each rank, in integers: flows are rounded, and along the tree exactly
/// what is left over moves, so that nothing of the excess remains. Where tasks went in a cycle they stay.
[[nodiscard]] Plan plan_of_flow(const RankNetwork& network, const Flow& flow,
                                std::vector<std::int64_t> excess);

/// The same for a flow in integers that is taken as it is.
[[nodiscard]] Plan plan_of_flow(const RankNetwork& network, std::vector<std::int64_t> flow);

}  // namespace topoloom
