// SPDX-License-Identifier: BSD-3-Clause
// The machine's routes as channels, and the classes of virtual channels that keep them free of deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/network/fabric.hpp"
#include "topoloom/network/routes/turns.hpp"

namespace topoloom {

/// A channel of a path, and the classes of virtual channels that the path may take there: from lowest() to `highest`.
struct Hop {
    ChannelId channel;
    std::uint8_t classes = 1;  // that the virtual channels of this channel are divided in
    std::uint8_t highest = 0;
    std::uint8_t rise = 0;  // 1: the turn closes a circle
    bool follows = false;   // the channel is in the same part as the one before

    /// After a class of the channel before.
    [[nodiscard]] std::uint32_t lowest(std::uint32_t before) const { return follows ? before + rise : 0; }
};

/// A packet holds a channel while it waits for the next one of its route. It is free of deadlock if no channels wait for
/// each other in a circle (Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE
/// Transactions on Computers C-36, 1987). Such circles are cut: a depth-first search over all turns of all routes finds the
/// turns that close one, and a packet that takes such a turn goes on in a higher class of virtual channels. It may also do
/// so elsewhere, as long as there are classes left for the turns to come. Channels that lie on a circle with each other are a
/// part; from one part to another there is no way back, so that a packet begins anew in any class there. On each ring of a
/// torus that is the dateline, and on trees one class is all.
class Paths {
   public:
    /// Refers to the fabric. Looks at the routes of each_telling_pair(). Throws Error for machines that split routes over
    /// detours or choose them by the load, and for nodes without a route.
    explicit Paths(const Fabric& fabric);

    /// How many classes the routes need.
    [[nodiscard]] std::uint32_t class_count() const { return class_count_; }
    /// The most channels on a path.
    [[nodiscard]] std::size_t longest() const { return longest_; }
    /// Channels in the order of a circle that one class of virtual channels would leave; empty: there is none.
    [[nodiscard]] const std::vector<ChannelId>& circle() const { return circles_.circle; }
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
    [[nodiscard]] Turns find_turns() const;
    [[nodiscard]] std::function<bool(ChannelId, ChannelId)> dateline_turns() const;
    void count_classes();
    [[nodiscard]] bool follows(const Way& before, const Way& after) const;
    [[nodiscard]] bool share_part(ChannelId one, ChannelId other) const {
        return circles_.part[one.value] == circles_.part[other.value];
    }
    void draw_way(Rng& rng, Room& room) const;
    void set_classes(std::vector<Hop>& path) const;

    const Fabric* fabric_;
    NetworkView view_;
    CutCircles circles_;
    std::vector<std::uint32_t> classes_;  // [part]
    std::uint32_t class_count_ = 1;
    std::size_t longest_;
};

}  // namespace topoloom
