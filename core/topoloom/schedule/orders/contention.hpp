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
    /// Links with more than one message; for AnyUpwardRoutes, subtrees above which links may have more than one
    /// message.
    std::size_t places = 0;
    double most = 0;  // maximum number of messages on one link, in the worst case
};

/// Lists the messages of a step between the nodes of its ranks. A rank without a node (missing or `no_node`)
/// neither sends nor receives.
inline constexpr Node no_node{0xFFFF'FFFFU};
[[nodiscard]] std::vector<NodeMessage> list_node_messages(const Step& step,
                                                          std::span<const Node> node_of_rank);
/// Throws Error unless each rank of the step is below `ranks`.
void require_ranks(const Step& step, std::size_t ranks);

/// Throws Error unless the network is a fat tree without failures.
[[nodiscard]] const FatTree& require_fat_tree(const Machine& machine);

/// Contention for any choice of upward routes, provided that messages from the same subtree use different
/// cables. No two messages ever meet if all messages into a subtree come from one subtree of its level; on
/// k-ary n-trees this condition is also necessary (Kumar 2005, 4.2). With fewer cables than nodes, a cable
/// may carry more than one message; the messages of a subtree are assumed to be spread evenly. O(messages *
/// levels).
class AnyUpwardRoutes {
   public:
    explicit AnyUpwardRoutes(const FatTree& tree);

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
        std::uint32_t from = 0;  // source subtree of the last message
        bool several = false;
    };
    [[nodiscard]] double max_messages_per_cable(const Level& level,
                                                std::span<const NodeMessage> messages) const;

    std::vector<Level> levels_;
    std::vector<Subtree> subtrees_;  // subtrees of the current level
};

/// Finds contention on the routes of any machine. If a message is split over several paths, each path counts
/// its fraction. Throws Error for nodes that do not exist and for messages whose route is interrupted by
/// failures. O(messages * hops + links).
[[nodiscard]] Meetings meetings_on_routes(const Machine& machine, std::span<const NodeMessage> messages);

}  // namespace topoloom
