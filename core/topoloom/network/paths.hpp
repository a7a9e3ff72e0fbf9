// SPDX-License-Identifier: BSD-3-Clause
// The machine's routes as channels, and the classes of virtual channels that keep them free of deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// A channel of a path, and the class of the virtual channels that the path takes there.
struct Hop {
    ChannelId channel;
    std::uint32_t klass;
};

/// A packet holds a channel while it waits for the next one of its route. It is free of deadlock if no channels wait for
/// each other in a circle (Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE
/// Transactions on Computers C-36, 1987). Such circles are cut: a depth-first search over all turns of all routes finds the
/// turns that close one, and a packet that takes such a turn goes on in the next class of virtual channels. Channels that
/// lie on a circle with each other are a part; from one part to another there is no way back, so that a packet begins
/// anew in the first class there. On each ring of a torus that is the dateline, and on trees one class is all.
class Paths {
   public:
    /// Refers to the fabric. Looks at the routes of all pairs of nodes: O(nodes^2 * hops). Throws Error for machines
    /// that split routes over detours or choose them by the load, and for nodes without a route.
    explicit Paths(const Fabric& fabric);

    /// How many classes the routes need.
    [[nodiscard]] std::uint32_t class_count() const { return class_count_; }
    /// The most channels on a path.
    [[nodiscard]] std::size_t longest() const { return longest_; }
    /// Channels in the order of a circle that one class of virtual channels would leave; empty: there is none.
    [[nodiscard]] const std::vector<ChannelId>& circle() const { return circle_; }
    /// A path between nodes that differ; where the route is split, one of its ways is drawn by their shares. It is valid until
    /// the next one is found in the same room.
    struct Way {
        ChannelId channel;
        double share;
    };
    struct Room {
        std::vector<Way> ways;
        std::vector<Hop> path;
    };
    std::span<const Hop> find(Node from, Node to, Rng& rng, Room& room) const;

   private:
    /// The channels of a route, in an order in which each follows one before; split ones have shares below 1.
    void find_ways(Node from, Node to, std::vector<Way>& ways) const;
    void require_no_detours(Node from, Node to, const std::vector<Way>& ways) const;
    void find_turns();
    void cut_circles();
    void count_classes();
    [[nodiscard]] bool follows(const Way& before, const Way& after) const;
    [[nodiscard]] std::size_t turn(ChannelId before, ChannelId after) const;
    [[nodiscard]] std::uint32_t class_after(std::uint32_t klass, ChannelId before, ChannelId after) const;

    const Fabric* fabric_;
    NetworkView view_;
    std::vector<std::uint32_t> first_turn_;  // [channel]
    std::vector<ChannelId> after_;           // channels that follow, sorted
    std::vector<bool> cut_;                  // parallel to after_
    std::vector<std::uint32_t> part_;        // [channel]
    std::vector<ChannelId> circle_;
    std::uint32_t class_count_ = 1;
    std::size_t longest_ = 0;
};

}  // namespace topoloom
