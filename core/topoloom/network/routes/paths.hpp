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

/// A channel of a path, and the classes of virtual channels that the packet may use: lowest() to `highest`.
struct Hop {
    ChannelId channel;
    std::uint8_t classes = 1;  // number of classes into which the channel's virtual channels are divided
    std::uint8_t highest = 0;
    std::uint8_t rise = 0;  // 1 if the turn from the previous channel closes a dependency cycle, else 0
    bool follows = false;   // whether the previous channel is in the same part

    /// The lowest allowed class after a packet used class `before` on the previous channel.
    [[nodiscard]] std::uint32_t lowest(std::uint32_t before) const { return follows ? before + rise : 0; }
};

/// Returns the queue length of a channel and of the buffers behind it, in flits.
using Queued = std::function<std::uint32_t(ChannelId)>;

/// Computes deadlock-free paths. A packet holds a channel while it waits for the next channel of its route.
/// Without cycles of waiting channels there is no deadlock (Dally and Seitz, Deadlock-Free Message Routing in
/// Multiprocessor Interconnection Networks, IEEE Transactions on Computers C-36, 1987). A depth-first search
/// over the turns of all routes finds the turns that close a cycle. At such a turn a packet must move to a
/// higher class of virtual channels. At other turns it can move to a higher class if enough classes remain
/// for later turns. A part is a strongly connected component of channels. Routes never return to a part, so a
/// packet can use any class when it enters one. On each ring of a torus this is equivalent to the dateline
/// method; trees need only one class.
///
/// Packets with minimal-adaptive routing need no classes if the turns of all shortest routes form no cycle,
/// as on fat trees. Otherwise a packet can escape at any switch to the machine's own route from there, in
/// reserved classes, and then stays on that route. Escape channels always drain, so every waiting packet
/// eventually gets one.
class Paths {
   public:
    /// Refers to the fabric. Analyzes the routes of for_each_representative_pair(). Throws Error for machines
    /// that split routes over detours other than Valiant detours, for a routing that the machine does not
    /// support, and for nodes without a route. Calls `poll` regularly, since large machines take long; an
    /// exception from `poll` stops the analysis.
    explicit Paths(const Fabric& fabric, Routing routing = Routing::own,
                   const std::function<void()>& poll = {});

    /// The routing in use. Not `own` if the machine's own routing corresponds to a named one.
    [[nodiscard]] Routing routing() const { return routing_; }
    /// Number of required virtual channel classes.
    [[nodiscard]] std::uint32_t class_count() const { return class_count_; }
    /// Throws Error if there are fewer virtual channels than classes.
    void require_classes(std::uint32_t vcs) const;
    /// All turns that packets can take.
    [[nodiscard]] Turns turns() const { return steps_ ? steps_->turns() : find_turns({}); }
    /// Maximum number of channels on a path.
    [[nodiscard]] std::size_t max_path_length() const { return longest_; }
    /// The channels, in order, of a dependency cycle that exists with a single class; empty if there is none.
    [[nodiscard]] const std::vector<ChannelId>& dependency_cycle() const { return circles_.circle; }
    /// Next hops of adaptive routing; null if find_path() returns complete paths.
    [[nodiscard]] const MinimalNextHops* next_hops() const { return steps_ ? &*steps_ : nullptr; }
    /// Number of classes reserved for escape paths, or 0.
    [[nodiscard]] std::uint32_t escape_classes() const { return escape_classes_; }

    /// A channel of a route and its share of the traffic, which is below 1 if the route is split.
    struct RouteChannel {
        ChannelId channel;
        double share;
    };
    struct Workspace {
        std::vector<RouteChannel> route;
        std::vector<Hop> path;
        std::vector<Hop> detour;
        bool is_fixed = false;  // whether the path is the only path between these nodes
    };
    /// Returns a path between different nodes. If the route is split, draws a path according to the shares.
    /// With next_hops(), returns only the channel from the node. The result is valid until the next call with
    /// this workspace.
    std::span<const Hop> find_path(Node from, Node to, Rng& rng, Workspace& workspace,
                                   const Queued& queued = {}) const;
    /// Returns an escape path: the machine's own route to a node from a router that is not the last router.
    std::span<const Hop> find_escape_path(std::uint32_t router, Node to, Rng& rng,
                                          Workspace& workspace) const;

   private:
    using Poll = std::function<void()>;
    /// Positions, in a list of route channels, of two channels such that the second can follow the first.
    struct Succession {
        std::uint32_t before;
        std::uint32_t after;
    };
    class Successions;
    using Visit = std::function<void(const std::vector<RouteChannel>&, const std::vector<Succession>&)>;
    /// Lists the channels of a route such that each channel comes after one of its predecessors.
    void list_route(Node from, Node to, std::vector<RouteChannel>& route) const;
    /// Visits routes that contain all turns and all sequences of class rises.
    void for_each_route(const Poll& poll, const Visit& visit) const;
    void require_no_detours(Node from, Node to, const std::vector<RouteChannel>& route) const;
    [[nodiscard]] Turns find_turns(const Poll& poll) const;
    [[nodiscard]] std::function<bool(ChannelId, ChannelId)> dateline_turns() const;
    void assign_classes(const Poll& poll);
    void count_classes(const Poll& poll);
    [[nodiscard]] bool set_up_adaptive_routing();
    [[nodiscard]] bool follows(const RouteChannel& before, const RouteChannel& after) const;
    [[nodiscard]] bool are_in_same_part(ChannelId one, ChannelId other) const {
        return circles_.part[one.value] == circles_.part[other.value];
    }
    /// Draws a path through the channels of the route according to their shares. Appends its channels to
    /// `path`.
    void draw_path(Rng& rng, const std::vector<RouteChannel>& route, std::vector<Hop>& path) const;
    void add_route(Node from, Node to, Rng& rng, Workspace& workspace, std::vector<Hop>& path) const;
    void add_detour(Node from, Node to, Rng& rng, Workspace& workspace) const;
    [[nodiscard]] std::span<const Hop> choose_entry_channel(Node from, Node to, Workspace& workspace,
                                                            const Queued& queued) const;
    void set_classes(std::vector<Hop>& path) const;

    const Fabric* fabric_;
    NetworkView view_;
    Routing routing_;
    std::optional<Detours> detours_;
    std::optional<MinimalNextHops> steps_;
    CycleCuts circles_;
    std::vector<std::uint32_t> classes_;  // [part]
    std::uint32_t class_count_ = 1;
    std::uint32_t escape_classes_ = 0;
    std::size_t longest_;
};

/// Caches the path of a node's last packet, since programs often send to the same node again.
class PathCache {
   public:
    /// Returns Paths::find_path(), or the cached path if the target is the same and the path is fixed.
    std::span<const Hop> find(const Paths& paths, Node from, Node to, Rng& rng, Paths::Workspace& workspace,
                              const Queued& queued) {
        if (to_ == to) return path_;
        const std::span<const Hop> path = paths.find_path(from, to, rng, workspace, queued);
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
