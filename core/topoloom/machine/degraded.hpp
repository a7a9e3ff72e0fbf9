// SPDX-License-Identifier: BSD-3-Clause
// A machine with failures: nodes, routers or links that are down, and routes around them.
#pragma once

#include <cstdint>
#include <memory>
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
#include "topoloom/machine/topologies.hpp"

namespace topoloom {

/// What is down. A router (or switch) is down with all its links, and one that sits in its nodes with these.
struct Failures {
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> vertices;
    std::vector<LinkEnds> links;  // all that lead from one vertex to the other
};

/// Any topology, part of which is down. Routes on which nothing is down stay; the others become a shortest route over
/// the links that are up, at every vertex the link with the lowest id, or are shared by all of these in a graph with such
/// routing. A route that was split over several paths, one of which is down, is replaced as a whole. Distances are kept
/// in a HopTable.
class Degraded {
   public:
    using Point = HopTable::Point;

    /// Throws Error for failures of what does not exist, and if no node is left.
    Degraded(WholeTopology whole, const Failures& failures);

    [[nodiscard]] std::size_t node_count() const { return node_up_.size(); }
    [[nodiscard]] std::size_t link_count() const { return link_up_.size(); }
    [[nodiscard]] std::size_t vertex_count() const;
    [[nodiscard]] Point point(Node node) const { return geometry().point(node); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return geometry().distance(a, b); }
    /// Over pairs of nodes that reach each other.
    [[nodiscard]] std::uint32_t diameter() const { return geometry().max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return detours_ ? hops_ : around_.table(); }

    /// Of two nodes that reach each other.
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        show_route(a, b, RouteVisitor(visit));
    }

    [[nodiscard]] bool is_up(Node node) const { return node_up_[node.value]; }
    [[nodiscard]] bool is_up(Link link) const { return link_up_[link.value]; }
    [[nodiscard]] std::vector<Node> usable_nodes() const;
    /// Throws Error if one of the nodes, which are those of `whose`, is down or cannot reach another.
    void require_usable(std::span<const Node> nodes, std::string_view whose) const;
    /// Whether both are up, and the first reaches the second.
    [[nodiscard]] bool connected(Node from, Node to) const {
        return is_up(from) && is_up(to) && (connected_ || geometry().reaches(point(from), point(to)));
    }
    [[nodiscard]] const WholeTopology& whole() const { return *whole_; }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return vertex_[node.value]; }
    [[nodiscard]] std::uint32_t host(Node node) const;
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const;
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const;
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;

   private:
    void show_route(Node a, Node b, const RouteVisitor& visit) const;
    /// Whether all links of the route without failures are up.
    template <class T>
    [[nodiscard]] bool is_up(const T& whole, Node a, Node b) const;
    void take_down(const Failures& failures);
    void take_down_cut_off();
    void find_ways();
    /// Two of the nodes, the first of which cannot reach the second; the same node twice if there are none.
    [[nodiscard]] std::pair<Node, Node> lost_among(std::span<const Node> nodes) const;

    /// Shared: machines are copied, and nothing in it ever changes.
    std::shared_ptr<const WholeTopology> whole_;
    std::vector<bool> node_up_;
    std::vector<bool> link_up_;
    std::vector<std::uint32_t> vertex_;  // of a node
    ShortestRoutes around_;
    bool connected_ = true;  // all nodes that are up reach each other
    bool detours_ = false;   // some routes without failures are longer than necessary:
    HopTable hops_;          // then this instead of the table of shortest routes
};

}  // namespace topoloom
