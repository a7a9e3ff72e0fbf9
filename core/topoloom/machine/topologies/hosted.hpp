// SPDX-License-Identifier: BSD-3-Clause
// Networks whose routers are not nodes: the NICs of each node are linked to its router.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// The links between a node and its router. A node distributes its messages over its NICs, so the NICs form
/// one link per direction with their total bandwidth. Without NICs, nodes are their routers ("hosts=free").
struct HostLinks {
    std::uint32_t cards = 1;                    // NICs per node
    BytesPerSecond bandwidth = unit_bandwidth;  // bandwidth per NIC and direction
    Seconds latency{0};
    bool is_assumed = false;  // whether the machine text does not describe NICs
};

/// Adds host links to routes between routers.
template <class Hosted, class Routes>
class HostedRoutes {
   public:
    HostedRoutes(const Hosted& hosted, Routes between) : hosted_(&hosted), between_(std::move(between)) {}
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        hosted_->route_over(between_, a, b, visit);
    }

   private:
    const Hosted* hosted_;
    Routes between_;
};

/// A topology `Base` of routers, each with the same number of nodes, and host links. Vertices are the
/// routers, then the nodes. Links are first the links between routers, then per node the link up and the link
/// down. The geometry covers only the routers: Machine adds host links to distances.
template <class Base>
class Hosted {
   public:
    struct Point {
        typename Base::Point router;
        std::uint32_t node;
    };

    /// Throws Error for a bandwidth that is not positive and finite, and for more links than ids.
    Hosted(Base base, HostLinks hosts) : base_(std::move(base)), hosts_(hosts) {
        if (!has_host_links()) return;
        require_bandwidth(hosts_.bandwidth);
        require_link_ids(std::uint64_t{base_.link_count()} + 2 * std::uint64_t{base_.node_count()});
        if (base_.vertex_count() + base_.node_count() > std::numeric_limits<std::int32_t>::max())
            fail("the machine has more than 2^31 nodes and routers");
    }

    [[nodiscard]] const Base& router_network() const { return base_; }
    [[nodiscard]] const HostLinks& hosts() const { return hosts_; }
    [[nodiscard]] bool has_host_links() const { return hosts_.cards > 0; }
    /// Links between a node and its router.
    [[nodiscard]] std::uint32_t host_hops() const { return has_host_links() ? 1 : 0; }

    [[nodiscard]] std::size_t node_count() const { return base_.node_count(); }
    [[nodiscard]] std::size_t link_count() const {
        return base_.link_count() + 2 * std::size_t{host_hops()} * node_count();
    }
    [[nodiscard]] std::size_t vertex_count() const {
        return base_.vertex_count() + std::size_t{host_hops()} * node_count();
    }

    [[nodiscard]] Point point(Node node) const { return {base_.point(node), node.value}; }
    [[nodiscard]] std::uint32_t hops(const Point& a, const Point& b) const {
        return a.node == b.node ? 0 : base_.hops(a.router, b.router) + 2 * host_hops();
    }
    [[nodiscard]] std::uint32_t diameter() const {
        return base_.diameter() + (node_count() > 1 ? 2 * host_hops() : 0);
    }
    [[nodiscard]] const auto& geometry() const { return base_.geometry(); }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        route_over(base_, a, b, visit);
    }
    /// Visits the links from a to b. Calls `between` for the links between routers.
    template <class Routes, class Visit>
    void route_over(const Routes& between, Node a, Node b, const Visit& visit) const {
        if (!has_host_links()) return between.route(a, b, visit);
        if (a == b) return;
        visit(link_up(a), 1.0);
        between.route(a, b, visit);
        visit(link_down(b), 1.0);
    }
    [[nodiscard]] Link link_up(Node node) const {
        return Link{base_.link_count() + 2 * std::size_t{node.value}};
    }
    [[nodiscard]] Link link_down(Node node) const { return Link{link_up(node).value + 1}; }

    void convert_sums(std::span<double> loads) const
        requires requires(const Base& base) { base.convert_sums(loads); }
    {
        base_.convert_sums(loads.first(base_.link_count()));
    }
    [[nodiscard]] bool is_adaptive() const
        requires requires(const Base& base) { base.is_adaptive(); }
    {
        return base_.is_adaptive();
    }
    [[nodiscard]] auto with_minimal_share(double share) const
        requires requires(const Base& base) { base.with_minimal_share(share); }
    {
        return HostedRoutes(*this, base_.with_minimal_share(share));
    }
    [[nodiscard]] bool takes_shortest_routes() const {
        if constexpr (requires { base_.takes_shortest_routes(); }) return base_.takes_shortest_routes();
        return true;
    }
    [[nodiscard]] bool forwards(std::uint32_t vertex) const { return vertex < base_.vertex_count(); }

    [[nodiscard]] auto grid() const
        requires requires(const Base& base) { base.grid(); }
    {
        return base_.grid();
    }
    [[nodiscard]] bool wraps(std::uint32_t axis) const
        requires requires(const Base& base) { base.wraps(axis); }
    {
        return base_.wraps(axis);
    }
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const
        requires requires(const Base& base) { base.coordinates(node); }
    {
        return base_.coordinates(node);
    }

    [[nodiscard]] std::uint32_t vertex(Node node) const {
        return has_host_links() ? static_cast<std::uint32_t>(base_.vertex_count()) + node.value
                                : base_.vertex(node);
    }
    [[nodiscard]] LinkEnds ends(Link link) const {
        if (is_between_routers(link)) return base_.ends(link);
        const Node node = node_of(link);
        const LinkEnds up{vertex(node), base_.vertex(node)};
        return link == link_up(node) ? up : LinkEnds{up.to, up.from};
    }
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const {
        return is_between_routers(link) ? base_.bandwidth(link) : node_bandwidth();
    }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const {
        std::vector<LinkRun> runs = base_.bandwidth_runs();
        if (has_host_links()) runs.push_back({Link{base_.link_count()}, 2 * node_count(), node_bandwidth()});
        return runs;
    }
    [[nodiscard]] Seconds latency(Link link) const {
        return is_between_routers(link) ? base_.latency(link) : hosts_.latency;
    }
    /// Host links are named "node 5 up" and "node 5 down".
    [[nodiscard]] std::string link_name(Link link) const {
        if (is_between_routers(link)) return base_.link_name(link);
        const Node node = node_of(link);
        return "node " + std::to_string(node.value) + (link == link_up(node) ? " up" : " down");
    }
    [[nodiscard]] std::string describe() const {
        std::ostringstream text;
        text << base_.describe();
        if (!has_host_links() && spec().nodes_per_router > 1) text << ", hosts free";
        if (hosts_.cards > 1) text << ", " << hosts_.cards << " network cards per node";
        return text.str();
    }
    [[nodiscard]] const auto& spec() const { return base_.spec(); }

   private:
    [[nodiscard]] bool is_between_routers(Link link) const { return link.value < base_.link_count(); }
    [[nodiscard]] Node node_of(Link link) const {
        return Node{(link.value - static_cast<std::uint32_t>(base_.link_count())) / 2};
    }
    [[nodiscard]] BytesPerSecond node_bandwidth() const {
        return BytesPerSecond{hosts_.bandwidth.value * hosts_.cards};
    }

    Base base_;
    HostLinks hosts_;
};

/// The network between routers: the topology itself, or without its host links if it has any.
template <class T>
[[nodiscard]] const auto& router_network(const T& topology) {
    if constexpr (requires { topology.router_network(); }) {
        return topology.router_network();
    } else {
        return topology;
    }
}

/// The number of links between a node and its router that the geometry does not include.
template <class T>
[[nodiscard]] std::uint32_t host_hops(const T& topology) {
    if constexpr (requires { topology.host_hops(); }) {
        return topology.host_hops();
    } else {
        return 0;
    }
}

}  // namespace topoloom
