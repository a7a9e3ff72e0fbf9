// SPDX-License-Identifier: BSD-3-Clause
// Next hops on shortest routes from any router to any node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/network/fabric.hpp"
#include "topoloom/network/routes/node_channels.hpp"
#include "topoloom/network/routes/turns.hpp"

namespace topoloom {

/// Distances from all routers to all nodes. Nodes that are attached to the same set of routers share a row.
class MinimalNextHops {
   public:
    /// Refers to the fabric. Throws Error if distances need more than 1 GiB.
    explicit MinimalNextHops(const Fabric& fabric);

    [[nodiscard]] const NodeChannels& node_channels() const { return node_channels_; }
    /// Number of channels from a router to a node, at least 1, or no_distance without a route.
    [[nodiscard]] std::uint32_t distance(std::uint32_t router, Node to) const {
        return distances_[std::size_t{set_of_[to.value]} * fabric_->router_count() + router];
    }
    /// Calls visit(channel) for the outputs of a router that lead nearer to a node, or end at the node.
    template <class Visit>
    void for_each_output(std::uint32_t router, Node to, const Visit& visit) const {
        const std::uint16_t* const away =
            distances_.data() + std::size_t{set_of_[to.value]} * fabric_->router_count();
        if (away[router] == 1) {
            for (const ChannelId exit : node_channels_.exits[to.value])
                if (fabric_->channel(exit).from == router) visit(exit);
            return;
        }
        for (const ChannelId next : fabric_->outputs_of(router)) {
            const Channel& channel = fabric_->channel(next);
            if (is_usable_[next.value] && !channel.is_exit() && away[channel.to] + 1U == away[router])
                visit(next);
        }
    }
    /// All turns of shortest routes.
    [[nodiscard]] Turns turns() const;
    [[nodiscard]] std::uint32_t max_distance() const { return longest_; }

    static constexpr std::uint16_t no_distance = 0xFFFF;

   private:
    void measure_distances(std::size_t set, const std::vector<std::uint32_t>& last_routers);

    const Fabric* fabric_;
    NodeChannels node_channels_;
    std::vector<bool> is_usable_;           // [channel]
    std::vector<std::uint32_t> set_of_;     // [node]
    std::vector<Node> member_;              // [set]: a node that is attached to this set of routers
    std::vector<std::uint16_t> distances_;  // [set][router]
    std::uint32_t longest_ = 0;
};

}  // namespace topoloom
