// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/paths.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/network/routes/datelines.hpp"
#include "topoloom/network/routes/representative_pairs.hpp"

namespace topoloom {

namespace {

bool is_split(const std::vector<Paths::RouteChannel>& route) {
    return std::ranges::any_of(route, [](const Paths::RouteChannel& part) { return part.share < 1; });
}

const Fabric& require_routes(const Fabric& fabric) {
    const Machine& machine = fabric.machine();
    if (machine.node_count() < 2)
        fail("'", machine.text(), "' has only one node; a simulation needs at least two");
    const std::vector<Node> usable = machine.usable_nodes();
    machine.require_usable(usable, "the machine");
    if (usable.size() < machine.node_count()) fail("'", machine.text(), "' has nodes that are down");
    return fabric;
}

}  // namespace

Paths::Paths(const Fabric& fabric, Routing routing, const Poll& poll)
    : fabric_(&require_routes(fabric)),
      view_(fabric.machine().topology()),
      routing_(routing == Routing::own ? own_routing(fabric.machine()) : routing),
      longest_(view_.diameter() + std::size_t{2}) {
    if (routing_ == Routing::own && view_.is_adaptive())
        fail(
            "'", fabric.machine().text(),
            "' adapts routes to the load, which switch simulation does not support; choose minimal-adaptive");
    if (routing_ == Routing::valiant || routing_ == Routing::ugal) detours_.emplace(fabric);
    if (routing_ == Routing::minimal_adaptive && set_up_adaptive_routing()) return;
    assign_classes(poll);
    if (!steps_) return;
    escape_classes_ = class_count_;
    ++class_count_;
}

/// Sets up adaptive routing. Returns false if adaptive packets need escape paths.
bool Paths::set_up_adaptive_routing() {
    steps_.emplace(*fabric_);
    longest_ = std::max<std::size_t>(longest_, steps_->max_distance() + 1);
    circles_ = break_cycles(steps_->turns(), [](ChannelId, ChannelId) { return false; });
    if (circles_.circle.empty()) return true;
    for (const Node node : steps_->node_channels().node_at)
        if (node == Node::none)
            fail("adaptive routing on '", fabric_->machine().text(),
                 "' can deadlock, and switches without nodes have no escape routes; choose the machine's "
                 "own routing");
    return false;
}

void Paths::require_classes(std::uint32_t vcs) const {
    if (vcs >= class_count_) return;
    std::string names;
    for (const ChannelId one : dependency_cycle()) names += (names.empty() ? "" : ", ") + fabric_->name(one);
    fail("packets could wait for each other in a cycle: ", names, "; '", fabric_->machine().text(),
         "' needs ", class_count_, " virtual channels, not ", vcs);
}

void Paths::list_route(Node from, Node to, std::vector<RouteChannel>& route) const {
    route.clear();
    if (fabric_->is_own_router(from)) route.push_back({fabric_->entry(from), 1});
    const auto add = [&](Link link, double share) { route.push_back({ChannelId{link.value}, share}); };
    if (detours_) {
        with_topology(fabric_->machine(), [&](const auto& topology) {
            if constexpr (requires { topology.with_minimal_share(1.0); })
                topology.with_minimal_share(1.0).route(from, to, add);
        });
    } else {
        view_.route(from, to, add);
    }
    if (fabric_->is_own_router(to)) route.push_back({fabric_->exit(to), 1});
}

bool Paths::follows(const RouteChannel& before, const RouteChannel& after) const {
    const std::uint32_t at = fabric_->channel(before.channel).to;
    return at != no_index && at == fabric_->channel(after.channel).from;
}

/// Throws Error unless all paths of the route are shortest paths. Then any path that switches between them is
/// shortest too.
void Paths::require_no_detours(Node from, Node to, const std::vector<RouteChannel>& route) const {
    double links = 0;
    for (const RouteChannel& part : route)
        if (part.channel.value < view_.link_count()) links += part.share;
    if (links > view_.hops(from, to) + 1e-6)
        fail("'", fabric_->machine().text(),
             "' routes messages over detours, which switch simulation does not support; choose a minimal "
             "routing");
}

/// Finds the pairs of consecutive channels of a route, router by router.
class Paths::Successions {
   public:
    explicit Successions(const Fabric& fabric) : fabric_(fabric), first_(fabric.router_count(), no_index) {}

    /// If the route is not split, pairs are sorted by the second channel. In a split route a channel can
    /// follow several channels.
    const std::vector<Succession>& of(const std::vector<RouteChannel>& route) {
        found_.clear();
        if (!is_split(route)) {
            for (std::uint32_t after = 1; after < route.size(); ++after) found_.push_back({after - 1, after});
            return found_;
        }
        next_.assign(route.size(), no_index);
        for (std::uint32_t part = 0; part < route.size(); ++part)
            if (const std::uint32_t from = fabric_.channel(route[part].channel).from; from != no_index)
                next_[part] = std::exchange(first_[from], part);
        for (std::uint32_t before = 0; before < route.size(); ++before)
            if (const std::uint32_t to = fabric_.channel(route[before].channel).to; to != no_index)
                for (std::uint32_t after = first_[to]; after != no_index; after = next_[after])
                    found_.push_back({before, after});
        for (const RouteChannel& part : route)
            if (const std::uint32_t from = fabric_.channel(part.channel).from; from != no_index)
                first_[from] = no_index;
        return found_;
    }

   private:
    const Fabric& fabric_;
    std::vector<std::uint32_t> first_;  // [router]: an outgoing channel
    std::vector<std::uint32_t> next_;   // [channel of the route]: next outgoing channel of the same router
    std::vector<Succession> found_;
};

void Paths::for_each_route(const Poll& poll, const Visit& visit) const {
    constexpr std::uint32_t routes_between_polls = 4096;
    std::vector<RouteChannel> route;
    Successions successions(*fabric_);
    std::uint32_t routes = 0;
    const auto show = [&] {
        visit(route, successions.of(route));
        if (poll && ++routes % routes_between_polls == 0) poll();
    };
    for_each_representative_pair(fabric_->machine(), [&](Node from, Node to) {
        list_route(from, to, route);
        if (is_split(route)) require_no_detours(from, to, route);
        show();
    });
    if (!detours_) return;
    detours_->for_each_turn([&](ChannelId global, Node to) {
        list_route(detours_->node_at_end_of(global), to, route);
        route.front() = {global, 1};
        show();
    });
}

Turns Paths::find_turns(const Poll& poll) const {
    Turns turns(fabric_->channel_count());
    for_each_route(poll,
                   [&](const std::vector<RouteChannel>& route, const std::vector<Succession>& successions) {
                       for (const auto [before, after] : successions)
                           turns.add(route[before].channel, route[after].channel);
                   });
    return turns;
}

std::function<bool(ChannelId, ChannelId)> Paths::dateline_turns() const {
    return [this, is_dateline = datelines(fabric_->machine())](ChannelId before, ChannelId after) {
        const std::size_t links = view_.link_count();
        return before.value < links && after.value < links &&
               is_dateline(Link{before.value}, Link{after.value});
    };
}

void Paths::assign_classes(const Poll& poll) {
    circles_ = break_cycles(find_turns(poll), dateline_turns());
    classes_.assign(circles_.parts, 1);
    count_classes(poll);
    if (detours_) longest_ *= 2;
}

void Paths::count_classes(const Poll& poll) {
    std::vector<std::uint32_t> rises, lengths;
    for_each_route(
        poll, [&](const std::vector<RouteChannel>& route, const std::vector<Succession>& successions) {
            /// Updates the rises and the length of the path up to the channel after a turn. Returns whether
            /// they changed.
            const auto lengthen = [&](std::size_t before, std::size_t after) {
                const ChannelId one = route[before].channel, next = route[after].channel;
                const std::uint32_t rise =
                    are_in_same_part(one, next) ? rises[before] + (circles_.cut.has(one, next) ? 1 : 0) : 0;
                if (rises[after] >= rise && lengths[after] > lengths[before]) return false;
                rises[after] = std::max(rises[after], rise);
                lengths[after] = std::max(lengths[after], lengths[before] + 1);
                return true;
            };
            rises.assign(route.size(), 0);
            lengths.assign(route.size(), 1);
            // The channels of an unsplit route are in order, so one pass suffices.
            for (bool changed = true; changed;) {
                changed = false;
                for (const auto [before, after] : successions) changed = lengthen(before, after) || changed;
                changed = changed && is_split(route);
            }
            for (std::size_t i = 0; i < route.size(); ++i) {
                std::uint32_t& classes = classes_[circles_.part[route[i].channel.value]];
                classes = std::max(classes, rises[i] + 1);
                longest_ = std::max<std::size_t>(longest_, lengths[i]);
            }
        });
    class_count_ = std::ranges::max(classes_);
}

std::span<const Hop> Paths::find_path(Node from, Node to, Rng& rng, Workspace& workspace,
                                      const Queued& queued) const {
    workspace.is_fixed = false;
    if (steps_) return choose_entry_channel(from, to, workspace, queued);
    workspace.path.clear();
    add_route(from, to, rng, workspace, workspace.path);
    workspace.is_fixed = !detours_ && !is_split(workspace.route);
    if (detours_ && detours_->has(from, to)) {
        add_detour(from, to, rng, workspace);
        /// Cost of a path: queue length of its first channel between routers, times the number of channels
        /// between routers. path[0] is the channel from the node.
        const auto cost = [&](const std::vector<Hop>& path) {
            return std::uint64_t{queued(path[1].channel)} * (path.size() - 2);
        };
        if (routing_ == Routing::valiant || (queued && cost(workspace.path) > cost(workspace.detour)))
            workspace.path.swap(workspace.detour);
    }
    set_classes(workspace.path);
    return workspace.path;
}

void Paths::add_route(Node from, Node to, Rng& rng, Workspace& workspace, std::vector<Hop>& path) const {
    list_route(from, to, workspace.route);
    if (is_split(workspace.route)) {
        draw_path(rng, workspace.route, path);
    } else {
        for (const RouteChannel& part : workspace.route) path.push_back({part.channel});
    }
}

void Paths::add_detour(Node from, Node to, Rng& rng, Workspace& workspace) const {
    const Node via = detours_->draw(from, to, rng);
    std::vector<Hop>& path = workspace.detour;
    path.clear();
    add_route(from, via, rng, workspace, path);
    while (!detours_->enters_group_of(path.back().channel, via)) path.pop_back();
    const std::size_t begin = path.size();
    add_route(detours_->node_at_end_of(path.back().channel), to, rng, workspace, path);
    path.erase(path.begin() + static_cast<std::ptrdiff_t>(begin));  // the channel that leads into that router
}

std::span<const Hop> Paths::choose_entry_channel(Node from, Node to, Workspace& workspace,
                                                 const Queued& queued) const {
    ChannelId best;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const ChannelId entry : steps_->node_channels().entries[from.value]) {
        const std::uint64_t away = steps_->distance(fabric_->channel(entry).to, to);
        const std::uint64_t cost = (away << 32) + (queued ? queued(entry) : 0);
        if (cost >= least) continue;
        least = cost;
        best = entry;
    }
    workspace.path.assign(1, {best});
    return workspace.path;
}

std::span<const Hop> Paths::find_escape_path(std::uint32_t router, Node to, Rng& rng,
                                             Workspace& workspace) const {
    workspace.path.clear();
    add_route(steps_->node_channels().node_at[router], to, rng, workspace, workspace.path);
    set_classes(workspace.path);
    return std::span<const Hop>(workspace.path).subspan(1);
}

void Paths::draw_path(Rng& rng, const std::vector<RouteChannel>& route, std::vector<Hop>& path) const {
    const RouteChannel* last = nullptr;
    const std::uint32_t start = fabric_->channel(route.front().channel).from;
    const auto leads_on = [&](const RouteChannel& part) {
        return last == nullptr ? fabric_->channel(part.channel).from == start : follows(*last, part);
    };
    for (;;) {
        double sum = 0;
        for (const RouteChannel& part : route) sum += leads_on(part) ? part.share : 0;
        if (sum == 0) return;
        double drawn = rng.uniform() * sum;
        const RouteChannel* next = nullptr;
        for (const RouteChannel& part : route) {
            if (!leads_on(part)) continue;
            next = &part;
            drawn -= part.share;
            if (drawn < 0) break;
        }
        path.push_back({next->channel});
        last = next;
    }
}

void Paths::set_classes(std::vector<Hop>& path) const {
    for (std::size_t i = 1; i < path.size(); ++i) {
        const ChannelId before = path[i - 1].channel, here = path[i].channel;
        path[i].follows = are_in_same_part(before, here);
        path[i].rise = path[i].follows && circles_.cut.has(before, here) ? 1 : 0;
    }
    std::uint32_t rises = 0;  // from the channel after the turn to the end of the part
    for (std::size_t i = path.size(); i-- > 0;) {
        Hop& hop = path[i];
        const std::uint32_t classes = classes_[circles_.part[hop.channel.value]];
        hop.classes = static_cast<std::uint8_t>(classes);
        hop.highest = static_cast<std::uint8_t>(classes - 1 - rises);
        rises = hop.follows ? rises + hop.rise : 0;
    }
}

}  // namespace topoloom
