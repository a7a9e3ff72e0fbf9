// SPDX-License-Identifier: BSD-3-Clause
// The concepts of a topology: the links between two nodes, and the distances between nodes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/split_key.hpp"
#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// Positions of nodes, for searches. A Point is the representation of a node's position with the cheapest
/// distance computation. Convert nodes to Points once, then compare Points often.
///
/// distance     the factor of bytes in hop-bytes: hops, unless a tree has absolute distances
/// split_keys   sort keys for bisection: the two halves of the sorted points are far apart; see SplitKey
/// Region       a set of points with a lower bound on the distance from outside; prunes searches for near slots
/// DistanceSum  the sum of weighted distances to given points: at a point, and a lower bound of it over a region
template <class G>
concept Geometry = requires(const G& g, Node node, typename G::Point point, const typename G::Region& region,
                            const typename G::DistanceSum& sum) {
    { g.node_count() } -> std::convertible_to<std::size_t>;
    { g.point(node) } -> std::same_as<typename G::Point>;
    { g.distance(point, point) } -> std::same_as<std::uint32_t>;
    { g.max_distance() } -> std::same_as<std::uint32_t>;
    { g.total_distances(std::span<const typename G::Point>{}) } -> std::same_as<std::vector<std::uint64_t>>;
    { g.split_keys(std::span<const typename G::Point>{}) } -> std::same_as<std::vector<SplitKey>>;
    { g.region(std::span<const typename G::Point>{}) } -> std::same_as<typename G::Region>;
    { sum.at(point) } -> std::same_as<std::uint64_t>;
    { sum.bound(region) } -> std::same_as<std::uint64_t>;
};

/// The links and routes of a network.
///
/// point       the topology's representation of a position, with the cheapest computation of hops
/// hops        links on the shortest path of the route; 0 from a node to itself
/// route       visits the links from a to b in order; the share is below 1 if traffic is split over several paths.
///             Shares sum up to the hops, or to more if the routing uses detours (Valiant)
/// is_adaptive optional: whether routes depend on the load. with_minimal_share(f) then routes the share f like an idle
///             network does, the rest over detours
/// vertex      the router or switch that a node is attached to; ends(link) are the vertices that a link joins
/// geometry    one of the few Geometries that searches are compiled for
template <class T>
concept Topology = requires(const T& t, Node node, typename T::Point point, Link link) {
    { t.node_count() } -> std::convertible_to<std::size_t>;
    { t.link_count() } -> std::convertible_to<std::size_t>;
    { t.vertex_count() } -> std::convertible_to<std::size_t>;
    { t.point(node) } -> std::same_as<typename T::Point>;
    { t.hops(point, point) } -> std::same_as<std::uint32_t>;
    { t.diameter() } -> std::same_as<std::uint32_t>;
    t.route(node, node, [](Link, double) {});
    { t.vertex(node) } -> std::same_as<std::uint32_t>;
    { t.ends(link) } -> std::same_as<LinkEnds>;
    { t.bandwidth(link) } -> std::same_as<BytesPerSecond>;
    { t.bandwidth_runs() } -> std::same_as<std::vector<LinkRun>>;
    { t.latency(link) } -> std::same_as<Seconds>;
    { t.link_name(link) } -> std::same_as<std::string>;
    { t.describe() } -> std::same_as<std::string>;
    requires Geometry<std::remove_cvref_t<decltype(t.geometry())>>;
};

/// A topology whose nodes have coordinates.
///
/// grid         extents of the coordinates; wraps(axis) distinguishes rings from lines
/// coordinates  of a node; nodes of one router share them
template <class T>
concept GridTopology = Topology<T> && requires(const T& t, Node node, std::uint32_t axis) {
    { t.grid() } -> std::convertible_to<std::vector<std::uint32_t>>;
    { t.wraps(axis) } -> std::same_as<bool>;
    { t.coordinates(node) } -> std::same_as<std::vector<std::uint32_t>>;
};

/// Whether all routes are shortest paths. True unless the topology's function takes_shortest_routes() returns
/// false.
template <Topology T>
[[nodiscard]] bool takes_shortest_routes(const T& topology) {
    if constexpr (requires { topology.takes_shortest_routes(); }) {
        return topology.takes_shortest_routes();
    } else {
        return true;
    }
}
/// The host of a node. Each node is a separate host unless the topology has a function host(node).
template <class T>
[[nodiscard]] std::uint32_t host_of(const T& topology, Node node) {
    if constexpr (requires { topology.host(node); }) {
        return topology.host(node);
    } else {
        return node.value;
    }
}
/// Whether messages can pass through a vertex. True unless the topology's function forwards(vertex) returns
/// false.
template <Topology T>
[[nodiscard]] bool forwards(const T& topology, std::uint32_t vertex) {
    if constexpr (requires { topology.forwards(vertex); }) {
        return topology.forwards(vertex);
    } else {
        return true;
    }
}

}  // namespace topoloom
