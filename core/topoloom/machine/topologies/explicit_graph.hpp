// SPDX-License-Identifier: BSD-3-Clause
// Any network: a list of nodes, switches and links, with shortest or given routes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/forwarding_tables.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/routing/shortest_routes.hpp"

namespace topoloom {

/// A directed link of an explicit graph.
struct ExplicitLink {
    std::uint32_t from;
    std::uint32_t to;
    BytesPerSecond bandwidth{1};
    Seconds latency{0};
};

/// Which of the shortest routes a message takes.
///
/// lowest  one route: at each vertex to the neighbor with the lowest id
/// ecmp    all routes: at each vertex over all links that lead nearer, in proportion to their bandwidths.
///         Parallel cables are one link with the sum of their bandwidths
enum class GraphRouting { lowest, ecmp };

/// Vertices 0 .. nodes-1 are nodes, the rest switches. A route in `routes` lists all vertices from its first
/// node to its last. Pairs without a listed route use shortest routes. If there are forwarding tables, all
/// routes follow them, and `routing` applies only to routes around failures.
struct ExplicitGraphSpec {
    std::uint32_t nodes = 0;
    std::uint32_t switches = 0;
    std::vector<ExplicitLink> links;
    std::vector<std::vector<std::uint32_t>> routes;
    std::vector<ForwardingTable> tables;
    bool nodes_forward = true;  // if false, routes pass only through switches
    GraphRouting routing = GraphRouting::lowest;
};

/// An arbitrary network. Distances are stored in a HopTable, computed on all cores. The nodes of a switch
/// share a row, unless forwarding tables take detours; then each node has a separate row.
class ExplicitGraph {
   public:
    using Point = HopTable::Point;

    /// Throws Error for link ends out of range, self-loops, duplicate links, and nodes that cannot reach each
    /// other. Also throws Error for routes that do not follow links, tables that do not lead to a node, and
    /// distances that exceed 16 bits or memory.
    explicit ExplicitGraph(ExplicitGraphSpec spec);

    [[nodiscard]] std::size_t node_count() const { return spec_.nodes; }
    [[nodiscard]] std::size_t link_count() const { return spec_.links.size(); }
    [[nodiscard]] std::size_t vertex_count() const { return std::size_t{spec_.nodes} + spec_.switches; }

    [[nodiscard]] Point point(Node node) const { return geometry().point(node); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return geometry().distance(a, b); }
    [[nodiscard]] std::uint32_t diameter() const { return geometry().max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return takes_detours_ ? by_tables_ : shortest_.table(); }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        if (!tables_.empty()) {
            for (std::uint32_t at = a.value; at != b.value;) {
                const Link link{tables_.next_link(at, b.value)};
                visit(link, 1.0);
                at = spec_.links[link.value].to;
            }
            return;
        }
        if (const auto* given = find_listed_route(a.value, b.value)) {
            for (const Link link : *given) visit(link, 1.0);
            return;
        }
        shortest_.route(a.value, b.value, visit);
    }

    [[nodiscard]] bool takes_shortest_routes() const { return given_.empty() && !takes_detours_; }
    /// Whether messages of pairs without a listed route are split over all shortest routes.
    [[nodiscard]] bool shares_shortest_routes() const { return spec_.routing == GraphRouting::ecmp; }
    [[nodiscard]] bool forwards(std::uint32_t vertex) const {
        return vertex >= spec_.nodes || spec_.nodes_forward;
    }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return node.value; }
    [[nodiscard]] LinkEnds ends(Link link) const {
        return {spec_.links[link.value].from, spec_.links[link.value].to};
    }
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.links[link.value].bandwidth; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.links[link.value].latency; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    /// The spec, but without forwarding tables, which are stored in another form.
    [[nodiscard]] const ExplicitGraphSpec& spec() const { return spec_; }

   private:
    using Pair = std::pair<std::uint32_t, std::uint32_t>;

    void sort_links();
    void require_connected() const;
    void add_listed_routes();
    void find_shortest_routes();
    void add_forwarding_tables();
    /// Computes the hops to `target` along the forwarding tables, from each vertex on a route to it. Throws
    /// Error if a route does not end at `target`.
    void measure_hops_along_tables(std::uint32_t target, std::vector<std::uint16_t>& hops) const;
    [[nodiscard]] bool has_link(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] Link link_between(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] const std::vector<Link>* find_listed_route(std::uint32_t a, std::uint32_t b) const;

    ExplicitGraphSpec spec_;            // links sorted by (from, to): a link's id is its position
    std::vector<std::uint32_t> first_;  // [v]: first outgoing link of v
    ShortestRoutes shortest_;
    std::vector<std::pair<Pair, std::vector<Link>>> given_;  // listed routes, sorted by pair of nodes
    ForwardingTables tables_;
    /// Whether some routes of the forwarding tables are longer than shortest paths.
    bool takes_detours_ = false;
    HopTable by_tables_;  // used if routes take detours, instead of the table of shortest routes
};

extern const TopologyNotation<ExplicitGraph> graph_notation;

}  // namespace topoloom
