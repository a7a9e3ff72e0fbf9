// SPDX-License-Identifier: BSD-3-Clause
// Detects contention: concurrent messages that share a link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"
#include "topoloom/schedule/cost/steps.hpp"

namespace topoloom {

struct NodeMessage {
    Node from;
    Node to;
};

/// The contention of a step.
struct Meetings {
    /// Links with more than one message; or subtrees, above which there may be such links.
    std::size_t places = 0;
    double most = 0;  // messages on one link, at worst
};

/// The messages of a step between the nodes of its ranks. A rank without a node, beyond the end or `no_node`, sends and
/// gets nothing.
inline constexpr Node no_node{0xFFFF'FFFFU};
[[nodiscard]] std::vector<NodeMessage> between_nodes(const Step& step, std::span<const Node> node_of_rank);
/// Throws Error unless each rank of the step is below `ranks`.
void require_ranks(const Step& step, std::size_t ranks);

/// Throws Error unless the network is a fat tree of which nothing is down.
[[nodiscard]] const FatTree& fat_tree_of(const Machine& machine);

/// Whichever routes the messages take up, so long as those of a subtree take different cables out of it. No two of them
/// ever meet if, and on k-ary n-trees only if, all that enter a subtree come from one subtree of its level (Kumar 2005,
/// 4.2). Where cables are fewer than nodes, too many messages meet on some, too; that fewer can climb apart is taken
/// for granted. O(messages * levels).
class AnyAscent {
   public:
    explicit AnyAscent(const FatTree& tree);

    [[nodiscard]] Meetings meetings(std::span<const NodeMessage> messages);

   private:
    struct Level {
        Divisor nodes;  // in a subtree
        std::uint32_t subtrees;
        std::uint32_t cables;  // above one
    };
    struct Subtree {
        std::uint32_t entering = 0;
        std::uint32_t leaving = 0;
        std::uint32_t from = 0;  // the last that entered it
        bool several = false;
    };
    [[nodiscard]] double most_on(const Level& level, std::span<const NodeMessage> messages) const;

    std::vector<Level> levels_;
    std::vector<Subtree> subtrees_;  // of the level that is looked at
};

/// On the routes of the machine, whatever it is. Where a message is split over several paths, its shares count. Throws
/// Error for nodes that do not exist, and messages whose route failures cut. O(messages * hops + links).
[[nodiscard]] Meetings meetings_on_routes(const Machine& machine, std::span<const NodeMessage> messages);

}  // namespace topoloom
