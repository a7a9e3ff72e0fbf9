// SPDX-License-Identifier: BSD-3-Clause
// Orders of the nodes of a fat tree in which the steps of a schedule meet nowhere, or as seldom as can be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/schedule/contention_free.hpp"

namespace topoloom {

struct FreeOrder {
    std::vector<Node> node_of_rank;
    std::uint64_t rounds = 0;  // in which messages may meet, whichever ways they climb; see AnyAscent
    bool proven = false;       // no order has fewer
};

/// In how many rounds messages may meet in this order.
[[nodiscard]] std::uint64_t meeting_rounds(const FatTree& tree, std::span<const RepeatedStep> steps,
                                           std::span<const Node> node_of_rank);

/// Orders nodes for steps of as many ranks. Shifts by 1 meet nowhere in the order of the tree; for others that order,
/// the given one and those with the fullest subtrees first or last are improved by moves that make it no worse; then all
/// orders are tried that are different on the tree and might have fewer rounds. Both end after so much work, in messages
/// looked at; for a dozen nodes the second comes to its end.
[[nodiscard]] FreeOrder find_free_order(const FatTree& tree, std::span<const Node> nodes,
                                        std::span<const RepeatedStep> steps, std::uint64_t work = 10'000'000,
                                        std::uint64_t seed = 1);

/// The nodes at positions that leave gaps, `no_node`, so that exchanges with position p xor j meet nowhere: children of
/// every switch have a power of two of places.
[[nodiscard]] std::vector<Node> with_gaps(const FatTree& tree, std::span<const Node> nodes);

}  // namespace topoloom
