// SPDX-License-Identifier: BSD-3-Clause
// Packet routes as channels, with virtual channel classes that prevent deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/network/fabric.hpp"
#include "topoloom/network/routes/detours.hpp"
#include "topoloom/network/routes/minimal_next_hops.hpp"
#include "topoloom/network/routes/routing.hpp"
#include "topoloom/network/routes/turns.hpp"

namespace topoloom {

/// A channel of a path, and the range of virtual channel classes allowed there: lowest() to `highest`.
struct Hop {
    ChannelId channel;
    std::uint8_t classes = 1;  // that the virtual channels of this channel are divided in
    std::uint8_t highest = 0;
    std::uint8_t rise = 0;  // 1: the turn closes a circle
    bool follows = false;   // the channel is in the same part as the one before

    /// After a class of the channel before.
    [[nodiscard]] std::uint32_t lowest(std::uint32_t before) const { return follows ? before + rise : 0; }
};

/// Queue length in flits of a channel and the buffers behind it.
using Queued = std::function<std::uint32_t(ChannelId)>;

/// A packet holds a channel while it waits for the next one of its route. It is free of deadlock if no channels wait for
/// each other in a circle (Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE
/// Transactions on Computers C-36, 1987). Such circles are cut: a depth-first search over all turns of all routes finds the
/// turns that close one, and a packet that takes such a turn goes on in a higher class of virtual channels. It may also do
/// so elsewhere, as long as there are classes left for the turns to come. Channels that lie on a circle with each other are a
/// part; from one part to another there is no way back, so that a packet restarts in any class there. On each ring of a
/// torus that is the dateline, and on trees one class is all.
///
/// Packets that choose at each switch (minimal-adaptive) need no classes where the turns of all shortest routes make no
/// circle, as on fat trees. Elsewhere they may leave at any switch for the machine's own route from there, in classes that are
/// kept for this, and stay on it: those drain, and whoever waits for one gets it in the end.
class Paths {
   public:
    /// Keeps a reference to the fabric. Examines the routes of for_each_representative_pair(). Throws Error for machines that split routes over
    /// detours other than Valiant's, for routings that do not fit the machine, and for nodes without a route. Large machines
    /// take a while: `poll` is called now and then, and ends that by an exception.
    explicit Paths(const Fabric& fabric, Routing routing = Routing::own,
                   const std::function<void()>& poll = {});

    /// The resolved routing: never `own` if the machine's own routing is a named one.
    [[nodiscard]] Routing routing() const { return routing_; }
    /// Number of classes required.
    [[nodiscard]] std::uint32_t class_count() const { return class_count_; }
    /// Throws Error if there are fewer virtual channels than classes.
    void require_classes(std::uint32_t vcs) const;
    /// All turns that packets may take.
    [[nodiscard]] Turns turns() const { return steps_ ? steps_->turns() : find_turns({}); }
    /// The most channels on a path.
    [[nodiscard]] std::size_t longest() const { return longest_; }
    /// A dependency cycle that a single class would leave, in order; empty if there is none.
    [[nodiscard]] const std::vector<ChannelId>& circle() const { return circles_.circle; }
    /// Next hops of adaptive routing; null if find() returns complete paths.
    [[nodiscard]] const MinimalNextHops* steps() const { return steps_ ? &*steps_ : nullptr; }
    /// Number of classes reserved for escape paths; 0: none.
    [[nodiscard]] std::uint32_t escape_classes() const { return escape_classes_; }

    /// A channel of a route, and the share of the traffic that it carries: below 1 if the route is split.
    struct RouteChannel {
        ChannelId channel;
        double share;
    };
    struct Workspace {
        std::vector<RouteChannel> route;
        std::vector<Hop> path;
        std::vector<Hop> detour;
        bool is_fixed = false;  // the path is the only one between these nodes
    };
    /// A path between different nodes; of a split route, one that is drawn by the shares. It is valid until the next call with
    /// this workspace. With steps(): only the channel from the node.
    std::span<const Hop> find(Node from, Node to, Rng& rng, Workspace& workspace,
                              const Queued& queued = {}) const;
    /// The machine's own route to a node from a router that is not the last one, for packets that escape.
    std::span<const Hop> escape(std::uint32_t router, Node to, Rng& rng, Workspace& workspace) const;

   private:
    using Poll = std::function<void()>;
    /// Positions of two channels of a route, of which the second can follow the first.
    struct Succession {
        std::uint32_t before;
        std::uint32_t after;
    };
    class Successions;
    using Visit = std::function<void(const std::vector<RouteChannel>&, const std::vector<Succession>&)>;
    /// Lists the channels of a route, each after one that it follows.
    void list_route(Node from, Node to, std::vector<RouteChannel>& route) const;
    /// Ways that have all turns and rises of all paths.
    void for_each_route(const Poll& poll, const Visit& visit) const;
    void require_no_detours(Node from, Node to, const std::vector<RouteChannel>& route) const;
    [[nodiscard]] Turns find_turns(const Poll& poll) const;
    [[nodiscard]] std::function<bool(ChannelId, ChannelId)> dateline_turns() const;
    void class_routes(const Poll& poll);
    void count_classes(const Poll& poll);
    [[nodiscard]] bool choose_steps();
    [[nodiscard]] bool follows(const RouteChannel& before, const RouteChannel& after) const;
    [[nodiscard]] bool share_part(ChannelId one, ChannelId other) const {
        return circles_.part[one.value] == circles_.part[other.value];
    }
    /// Extends the path by channels of the route, drawn by their shares.
    void draw_path(Rng& rng, const std::vector<RouteChannel>& route, std::vector<Hop>& path) const;
    void add_route(Node from, Node to, Rng& rng, Workspace& workspace, std::vector<Hop>& path) const;
    void add_detour(Node from, Node to, Rng& rng, Workspace& workspace) const;
    [[nodiscard]] std::span<const Hop> enter(Node from, Node to, Workspace& workspace,
                                             const Queued& queued) const;
    void set_classes(std::vector<Hop>& path) const;

    const Fabric* fabric_;
    NetworkView view_;
    Routing routing_;
    std::optional<Detours> detours_;
    std::optional<MinimalNextHops> steps_;
    BrokenCycles circles_;
    std::vector<std::uint32_t> classes_;  // [part]
    std::uint32_t class_count_ = 1;
    std::uint32_t escape_classes_ = 0;
    std::size_t longest_;
};

/// Caches the path of the last packet of a node: programs often send to the same node again.
class PathCache {
   public:
    /// Like Paths::find(), which is called only for another node or if paths vary.
    std::span<const Hop> find(const Paths& paths, Node from, Node to, Rng& rng, Paths::Workspace& workspace,
                              const Queued& queued) {
        if (to_ == to) return path_;
        const std::span<const Hop> path = paths.find(from, to, rng, workspace, queued);
        if (workspace.is_fixed) {
            to_ = to;
            path_.assign(path.begin(), path.end());
        }
        return path;
    }

   private:
    Node to_ = Node::none;
    std::vector<Hop> path_{};
};

}  // namespace topoloom
