// SPDX-License-Identifier: BSD-3-Clause
// Contention-free orders of nodes, or orders with the fewest contended rounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/schedule/orders/contention_free.hpp"

namespace topoloom {

/// When messages contend: on a fat tree those that some ascent brings together (see AnyAscent), or those that
/// share a link on the routes of the machine, whatever it is.
enum class Meeting { any_ascent, on_routes };

struct FreeOrder {
    std::vector<Node> node_of_rank;
    std::uint64_t rounds = 0;  // in which messages meet
    bool proven = false;       // no order has fewer
};

/// Orders nodes for steps of as many ranks. On fat trees shifts by 1 meet nowhere in the order of the tree, whatever the
/// ascent. For others that order, the given one and those with the fullest subtrees first or last are improved by moves that
/// make it no worse; then all orders are tried that might have fewer rounds, and of those that any ascent makes alike
/// one. Both end after this much work, in messages and links looked at; for a dozen nodes the second comes to its end.
/// Throws Error for no nodes, nodes that stand there twice, do not exist, are down or cut off from each other, and steps
/// of more ranks.
[[nodiscard]] FreeOrder find_free_order(const Machine& machine, std::span<const Node> nodes,
                                        std::span<const RepeatedStep> steps,
                                        Meeting meeting = Meeting::any_ascent,
                                        std::uint64_t work = 10'000'000, std::uint64_t seed = 1);

/// The nodes at positions that leave gaps, `no_node`, so that exchanges with position p xor j meet nowhere: children of
/// every switch have a power of two of places.
[[nodiscard]] std::vector<Node> with_gaps(const Machine& machine, std::span<const Node> nodes);

}  // namespace topoloom
