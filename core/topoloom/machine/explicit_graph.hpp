// SPDX-License-Identifier: BSD-3-Clause
// Any network: nodes, switches and links listed one by one, with shortest-path or given routes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/link.hpp"
#include "topoloom/machine/pull_to_points.hpp"
#include "topoloom/machine/split_key.hpp"

namespace topoloom {

/// A directed link of an explicit graph.
struct ExplicitLink {
    std::uint32_t from;
    std::uint32_t to;
    BytesPerSecond bandwidth{1};
    Seconds latency{0};
};

/// Vertices 0 .. nodes-1 are nodes, the rest switches. A route in `routes` is the list of vertices from its first
/// node to its last; pairs without one take a shortest path, at every vertex the neighbor with the lowest id.
struct ExplicitGraphSpec {
    std::uint32_t nodes = 0;
    std::uint32_t switches = 0;
    std::vector<ExplicitLink> links;
    std::vector<std::vector<std::uint32_t>> routes;
};

/// Distances of all pairs are kept, 2 bytes a pair, computed on all cores.
class ExplicitGraph {
   public:
    using Point = std::uint32_t;
    struct Region {};  // without geometry nothing can be ruled out
    using Pull = PullToPoints<ExplicitGraph>;

    /// Throws Error for ends out of range, links to oneself or twice, nodes that cannot reach each other, routes
    /// that do not follow links, and distances that fit neither 16 bits nor this computer's memory.
    explicit ExplicitGraph(ExplicitGraphSpec spec);

    [[nodiscard]] std::size_t node_count() const { return spec_.nodes; }
    [[nodiscard]] std::size_t link_count() const { return spec_.links.size(); }
    [[nodiscard]] std::size_t vertex_count() const { return std::size_t{spec_.nodes} + spec_.switches; }

    [[nodiscard]] Point point(Node node) const { return node.value; }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const {
        return has_routes_ ? routed_hops(a, b) : hops_to(b)[a];
    }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return hops(a, b); }
    /// Whether all links go both ways and no routes are given: then every way back is as long as the way there. O(links log links).
    [[nodiscard]] bool symmetric() const;
    [[nodiscard]] std::uint32_t diameter() const { return diameter_; }
    [[nodiscard]] std::uint32_t max_distance() const { return diameter_; }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        if (const auto* given = given_route(a.value, b.value)) {
            for (const Link link : *given) visit(link, 1.0);
            return;
        }
        const std::span<const std::uint16_t> to_b = hops_to(b.value);
        for (std::uint32_t at = a.value; at != b.value;) {
            const Link link = next_link(at, to_b);
            visit(link, 1.0);
            at = spec_.links[link.value].to;
        }
    }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return node.value; }
    [[nodiscard]] LinkEnds ends(Link link) const {
        return {spec_.links[link.value].from, spec_.links[link.value].to};
    }
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.links[link.value].bandwidth; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.links[link.value].latency; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::vector<std::uint32_t> grid() const { return {spec_.nodes}; }
    [[nodiscard]] bool wraps(std::uint32_t) const { return false; }
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const { return {node.value}; }
    [[nodiscard]] std::vector<std::uint64_t> total_distances(std::span<const Point> points) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const ExplicitGraphSpec& spec() const { return spec_; }

    [[nodiscard]] Region region(std::span<const Point>) const { return {}; }
    /// By how much nearer a point is to one of two far ends than to the other.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const;
    [[nodiscard]] std::uint32_t distance_from(const Region&, Point) const { return 0; }

   private:
    using Pair = std::pair<std::uint32_t, std::uint32_t>;

    void sort_links();
    void measure_hops();
    void add_given_routes();
    [[nodiscard]] std::span<const std::uint16_t> hops_to(std::uint32_t node) const {
        return {hops_.data() + node * vertex_count(), vertex_count()};
    }
    [[nodiscard]] Link next_link(std::uint32_t at, std::span<const std::uint16_t> to) const;
    [[nodiscard]] Link link_between(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] const std::vector<Link>* given_route(std::uint32_t a, std::uint32_t b) const;
    [[nodiscard]] std::uint32_t routed_hops(std::uint32_t a, std::uint32_t b) const;

    ExplicitGraphSpec spec_;            // links sorted by (from, to): a link's id is its position
    std::vector<std::uint32_t> first_;  // [v]: first link that leaves v
    std::vector<std::uint16_t> hops_;   // [b * vertices + v]: from vertex v to node b
    std::vector<std::pair<Pair, std::vector<Link>>> given_;  // sorted by pair of nodes
    std::uint32_t diameter_ = 0;
    bool has_routes_ = false;
};

}  // namespace topoloom
