// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/degraded_topology.hpp"

#include <algorithm>
#include <functional>
#include <sstream>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/topology.hpp"

namespace topoloom {

namespace {

void require_existing(std::uint32_t id, std::size_t count, const char* kind) {
    if (id >= count) fail(kind, " ", id, " does not exist: the machine has ", count);
}

/// Throws Error if the hop table would not fit in memory. Called before links are listed. Nodes attached to
/// switches share the switch's row.
template <class T>
void require_memory(const T& whole) {
    const std::size_t nodes = whole.node_count();
    const std::size_t vertices = whole.vertex_count();
    // If there are host links, the rows are the routers.
    const std::size_t rows = vertices > nodes ? vertices - nodes : vertices;
    HopTable::require_memory(rows, rows, nodes);
}

template <class T>
ShortestRoutes::Choice choose_among_routes(const T& whole) {
    if constexpr (requires { whole.shares_shortest_routes(); }) {
        if (whole.shares_shortest_routes()) return ShortestRoutes::Choice::shared;
    }
    return ShortestRoutes::Choice::first;
}

}  // namespace

DegradedTopology::DegradedTopology(IntactTopology intact, const Failures& failures)
    : intact_(std::make_shared<const IntactTopology>(std::move(intact))) {
    std::visit(
        [&](const auto& t) {
            require_memory(t);
            node_up_.assign(t.node_count(), true);
            link_up_.assign(t.link_count(), true);
            for (const Node node : ids<Node>(t.node_count())) vertex_.push_back(t.vertex(node));
        },
        *intact_);
    mark_down(failures);
    find_routes();
    connected_ = !find_unreachable_pair(usable_nodes());
}

void DegradedTopology::mark_down(const Failures& failures) {
    std::vector<std::uint32_t> nodes_left(vertex_count(), 0);
    for (const std::uint32_t v : vertex_) ++nodes_left[v];
    std::vector<bool> vertex_up(vertex_count(), true);
    for (const std::uint32_t n : failures.nodes) {
        require_existing(n, node_count(), "node");
        if (!node_up_[n]) continue;
        node_up_[n] = false;
        if (--nodes_left[vertex_[n]] == 0) vertex_up[vertex_[n]] = false;
    }
    for (const std::uint32_t v : failures.vertices) {
        require_existing(v, vertex_count(), "vertex");
        vertex_up[v] = false;
    }
    for (std::size_t n = 0; n < node_count(); ++n) node_up_[n] = node_up_[n] && vertex_up[vertex_[n]];

    std::vector<LinkEnds> sought = failures.links;
    const auto key = [](const LinkEnds& e) { return std::pair(e.from, e.to); };
    std::ranges::sort(sought, {}, key);
    std::vector<bool> found(sought.size(), false);
    for (const Link link : ids<Link>(link_count())) {
        const LinkEnds e = ends(link);
        const auto at = std::ranges::lower_bound(sought, key(e), {}, key);
        const bool named = at != sought.end() && *at == e;
        if (named) found[static_cast<std::size_t>(at - sought.begin())] = true;
        link_up_[link.value] = !named && vertex_up[e.from] && vertex_up[e.to];
    }
    mark_unlinked_nodes_down();
    for (std::size_t i = 0; i < sought.size(); ++i) {
        if (found[i] || (i > 0 && sought[i] == sought[i - 1])) continue;
        fail("there is no link from vertex ", sought[i].from, " to vertex ", sought[i].to);
    }
}

/// A node is down if a link to or from its router is down.
void DegradedTopology::mark_unlinked_nodes_down() {
    std::visit(
        [&]<class T>(const T& t) {
            if constexpr (requires { t.link_up(Node{}); }) {
                if (!t.has_host_links()) return;
                for (const Node node : ids<Node>(node_count())) {
                    if (!is_up(t.link_up(node)) || !is_up(t.link_down(node))) node_up_[node.value] = false;
                }
            }
        },
        *intact_);
    if (std::ranges::none_of(node_up_, std::identity{})) fail("all nodes of the machine are down");
}

void DegradedTopology::find_routes() {
    std::vector<ShortestRoutes::Arc> arcs;
    for (const Link link : ids<Link>(link_count())) {
        if (is_up(link)) arcs.push_back({link, ends(link).from, ends(link).to, bandwidth(link).value});
    }
    std::visit(
        [&](const auto& t) {
            std::vector<bool> forwarding;
            for (std::uint32_t v = 0; v < vertex_count(); ++v) forwarding.push_back(forwards(t, v));
            shortest_ = ShortestRoutes(vertex_, forwarding, std::move(arcs), choose_among_routes(t));
            takes_detours_ = !takes_shortest_routes(t);
            if (!takes_detours_) return;
            // Each table row is a router. A node is either one host link away from its router, or is the
            // router itself.
            const auto& routers = router_network(t);
            const std::uint32_t leaf = host_hops(t);
            const std::size_t rows = routers.vertex_count();
            const auto none = Node{node_count()};
            std::vector<HopTable::Point> points;
            std::vector<Node> node_at(rows, none);
            for (const Node node : ids<Node>(node_count())) {
                const std::uint32_t router = routers.vertex(node);
                points.push_back({node.value, router & 0x7FFFFFFFU, leaf & 1U});
                if (is_up(node)) node_at[router] = node;
            }
            hops_ = HopTable(std::move(points), rows,
                             HopTable::make_hops(rows, [&](std::uint32_t v, std::uint32_t w) {
                                 const Node a = node_at[v];
                                 const Node b = node_at[w];
                                 if (a == none || b == none || a == b) return 0U;
                                 if (is_up(t, a, b)) return t.hops(t.point(a), t.point(b)) - 2 * leaf;
                                 const HopTable& table = shortest_.table();
                                 const std::uint32_t hops = table.distance(table.point(a), table.point(b));
                                 return hops < HopTable::unreached ? hops - 2 * leaf : HopTable::unreached;
                             }));
        },
        *intact_);
}

void DegradedTopology::require_usable(std::span<const Node> nodes, std::string_view whose) const {
    for (const Node node : nodes) {
        if (!is_up(node)) fail(whose, " names node ", node.value, ", which is down");
    }
    if (connected_) return;
    if (const auto pair = find_unreachable_pair(nodes)) {
        fail("failures disconnect ", whose, ": node ", pair->first.value, " has no route to node ",
             pair->second.value);
    }
}

std::vector<Node> DegradedTopology::usable_nodes() const {
    std::vector<Node> nodes;
    for (const Node node : ids<Node>(node_count())) {
        if (is_up(node)) nodes.push_back(node);
    }
    return nodes;
}

std::optional<std::pair<Node, Node>> DegradedTopology::find_unreachable_pair(
    std::span<const Node> nodes) const {
    std::vector<Node> representatives;  // one point per row of the table
    std::vector<bool> seen(vertex_count(), false);
    for (const Node node : nodes) {
        if (!seen[point(node).row]) representatives.push_back(node);
        seen[point(node).row] = true;
    }
    for (const Node a : representatives) {
        for (const Node b : representatives) {
            if (!geometry().can_reach(point(a), point(b))) return std::pair(a, b);
        }
    }
    return std::nullopt;
}

std::size_t DegradedTopology::vertex_count() const {
    return std::visit([](const auto& t) -> std::size_t { return t.vertex_count(); }, *intact_);
}

template <class T>
bool DegradedTopology::is_up(const T& whole, Node a, Node b) const {
    bool up = true;
    const auto visit = [&](Link link, double) { up = up && is_up(link); };
    whole.route(a, b, RouteVisitor(visit));
    return up;
}

void DegradedTopology::visit_route(Node a, Node b, const RouteVisitor& visit) const {
    std::visit(
        [&](const auto& t) {
            if (is_up(t, a, b)) {
                t.route(a, b, visit);
            } else {
                shortest_.route(vertex(a), vertex(b), visit);
            }
        },
        *intact_);
}

LinkEnds DegradedTopology::ends(Link link) const {
    return std::visit([&](const auto& t) { return t.ends(link); }, *intact_);
}

std::uint32_t DegradedTopology::host(Node node) const {
    return std::visit([&](const auto& t) { return host_of(t, node); }, *intact_);
}

BytesPerSecond DegradedTopology::bandwidth(Link link) const {
    return std::visit([&](const auto& t) { return t.bandwidth(link); }, *intact_);
}

std::vector<LinkRun> DegradedTopology::bandwidth_runs() const {
    return std::visit([](const auto& t) { return t.bandwidth_runs(); }, *intact_);
}

Seconds DegradedTopology::latency(Link link) const {
    return std::visit([&](const auto& t) { return t.latency(link); }, *intact_);
}

std::string DegradedTopology::link_name(Link link) const {
    return std::visit([&](const auto& t) { return t.link_name(link); }, *intact_);
}

std::string DegradedTopology::describe() const {
    const auto nodes = std::ranges::count(node_up_, false);
    const auto links = std::ranges::count(link_up_, false);
    std::ostringstream text;
    text << std::visit([](const auto& t) { return t.describe(); }, *intact_) << ", " << nodes
         << (nodes == 1 ? " node" : " nodes") << " and " << links << (links == 1 ? " link" : " links")
         << " down";
    return text.str();
}

}  // namespace topoloom
