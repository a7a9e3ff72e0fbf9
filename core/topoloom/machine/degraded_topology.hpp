// SPDX-License-Identifier: BSD-3-Clause
// A topology with failures: nodes, routers or links that are down, and routes around them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/routing/shortest_routes.hpp"
#include "topoloom/machine/topology_list.hpp"

namespace topoloom {

/// Nodes, vertices and links that are down. If a vertex is down, so are its links. If all nodes of a vertex
/// are down, so is the vertex.
struct Failures {
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> vertices;
    std::vector<LinkEnds> links;  // all links from the first vertex to the second are down
};

/// A topology with failures. Routes that contain no failures do not change. Any other route is replaced by a
/// shortest route over links that are up. It takes the link with the lowest id at every vertex; with ECMP
/// routing, traffic is split over all shortest routes. If one path of a split route fails, the whole route is
/// replaced. Distances are stored in a HopTable.
class DegradedTopology {
   public:
    using Point = HopTable::Point;

    /// Throws Error if a failed node, vertex or link does not exist, or if all nodes are down.
    DegradedTopology(IntactTopology intact, const Failures& failures);

    [[nodiscard]] std::size_t node_count() const { return node_up_.size(); }
    [[nodiscard]] std::size_t link_count() const { return link_up_.size(); }
    [[nodiscard]] std::size_t vertex_count() const;
    [[nodiscard]] Point point(Node node) const { return geometry().point(node); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return geometry().distance(a, b); }
    /// The largest number of hops between two nodes that have a route.
    [[nodiscard]] std::uint32_t diameter() const { return geometry().max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return takes_detours_ ? hops_ : shortest_.table(); }

    /// Requires that `a` reaches `b`.
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        visit_route(a, b, RouteVisitor(visit));
    }

    [[nodiscard]] bool is_up(Node node) const { return node_up_[node.value]; }
    [[nodiscard]] bool is_up(Link link) const { return link_up_[link.value]; }
    [[nodiscard]] std::vector<Node> usable_nodes() const;
    /// Throws Error if one of the nodes is down or cannot reach another. `whose` names the owner of the nodes
    /// in the error message.
    void require_usable(std::span<const Node> nodes, std::string_view whose) const;
    /// Whether both nodes are up and the first reaches the second.
    [[nodiscard]] bool connected(Node from, Node to) const {
        return is_up(from) && is_up(to) && (connected_ || geometry().can_reach(point(from), point(to)));
    }
    [[nodiscard]] const IntactTopology& intact() const { return *intact_; }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return vertex_[node.value]; }
    [[nodiscard]] std::uint32_t host(Node node) const;
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const;
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const;
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;

   private:
    void visit_route(Node a, Node b, const RouteVisitor& visit) const;
    /// Whether all links of the route in the intact topology are up.
    template <class T>
    [[nodiscard]] bool is_up(const T& whole, Node a, Node b) const;
    void mark_down(const Failures& failures);
    void mark_unlinked_nodes_down();
    void find_routes();
    /// Returns two of the nodes such that the first cannot reach the second, unless all reach each other.
    [[nodiscard]] std::optional<std::pair<Node, Node>> find_unreachable_pair(
        std::span<const Node> nodes) const;

    /// Immutable, so copies of a machine share it.
    std::shared_ptr<const IntactTopology> intact_;
    std::vector<bool> node_up_;
    std::vector<bool> link_up_;
    std::vector<std::uint32_t> vertex_;  // of a node
    ShortestRoutes shortest_;
    bool connected_ = true;       // all nodes that are up reach each other
    bool takes_detours_ = false;  // some routes of the intact topology are longer than the shortest path
    HopTable hops_;               // used if routes take detours, instead of the table of shortest routes
};

}  // namespace topoloom
