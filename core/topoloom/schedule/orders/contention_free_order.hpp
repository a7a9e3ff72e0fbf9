// SPDX-License-Identifier: BSD-3-Clause
// Contention-free orders of nodes, or orders with the fewest contended rounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/schedule/orders/contention.hpp"

namespace topoloom {

/// When messages contend: on a fat tree if some choice of upward routes lets them meet (see AnyUpwardRoutes), or on
/// any machine if their routes share a link.
enum class ContentionModel { any_ascent, on_routes };

struct FreeOrder {
    std::vector<Node> node_of_rank;
    std::uint64_t rounds = 0;  // number of rounds in which messages meet
    bool proven = false;       // whether no order has fewer such rounds
};

/// Finds an order of nodes for steps with one rank per node. On fat trees shifts by 1 never meet in tree
/// order, for any choice of upward routes. For other steps, a local search improves tree order, the given
/// order and the orders with the fullest subtrees first or last. Then an exhaustive search tries all orders
/// that might have fewer contended rounds, but only one of each set of equivalent orders. Both searches stop
/// after `work` inspected messages and links; with a dozen nodes the exhaustive search completes. Throws
/// Error for 0 nodes, duplicate nodes, nodes that do not exist, are down or are disconnected, and steps with
/// more ranks than nodes.
[[nodiscard]] FreeOrder find_free_order(const Machine& machine, std::span<const Node> nodes,
                                        std::span<const RepeatedStep> steps,
                                        ContentionModel meeting = ContentionModel::any_ascent,
                                        std::uint64_t work = 10'000'000, std::uint64_t seed = 1);

/// Places nodes at positions with gaps (`no_node`) so that the messages of an exchange between positions p
/// and p xor j never meet: the children of every switch get a power of two of positions.
[[nodiscard]] std::vector<Node> with_gaps(const Machine& machine, std::span<const Node> nodes);

}  // namespace topoloom
