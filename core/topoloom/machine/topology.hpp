// SPDX-License-Identifier: BSD-3-Clause
// What every network answers: how far apart two nodes are, and which links a message between them uses.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/link.hpp"
#include "topoloom/machine/split_key.hpp"

namespace topoloom {

/// A node's position in the form in which distances are cheapest: get the Points once, then compare them often.
///
/// hops      links on the route; 0 for a node to itself
/// distance  hops unless the topology carries weights (a tree's absolute distances); what hop-bytes multiply with
/// route     visits the links from a to b in order; share < 1 where traffic is split over equal paths
/// vertex    the router (or switch) that a node is attached to; ends(link) are the vertices that a link joins
/// grid      extents of the coordinates; wraps(axis) tells rings from lines. A topology without geometry is a line.
/// split_keys  an order of points in which the two halves lie apart; see SplitKey
/// Region    a set of points with a lower bound on the distance from outside; prunes searches for near slots
/// Pull      sum of weighted distances to given points, for any point (cost) or at least for a region (bound)
template <class T>
concept Topology = requires(const T& t, Node node, typename T::Point point, const typename T::Region& region,
                            const typename T::Pull& pull, Link link, std::uint32_t axis) {
    { t.node_count() } -> std::convertible_to<std::size_t>;
    { t.link_count() } -> std::convertible_to<std::size_t>;
    { t.vertex_count() } -> std::convertible_to<std::size_t>;
    { t.point(node) } -> std::same_as<typename T::Point>;
    { t.hops(point, point) } -> std::same_as<std::uint32_t>;
    { t.distance(point, point) } -> std::same_as<std::uint32_t>;
    { t.diameter() } -> std::same_as<std::uint32_t>;
    { t.max_distance() } -> std::same_as<std::uint32_t>;
    t.route(node, node, [](Link, double) {});
    { t.vertex(node) } -> std::same_as<std::uint32_t>;
    { t.ends(link) } -> std::same_as<LinkEnds>;
    { t.bandwidth(link) } -> std::same_as<BytesPerSecond>;
    { t.bandwidth_runs() } -> std::same_as<std::vector<LinkRun>>;
    { t.latency(link) } -> std::same_as<Seconds>;
    { t.link_name(link) } -> std::same_as<std::string>;
    { t.grid() } -> std::convertible_to<std::vector<std::uint32_t>>;
    { t.wraps(axis) } -> std::same_as<bool>;
    { t.coordinates(node) } -> std::same_as<std::vector<std::uint32_t>>;
    { t.total_distances(std::span<const typename T::Point>{}) } -> std::same_as<std::vector<std::uint64_t>>;
    { t.split_keys(std::span<const typename T::Point>{}) } -> std::same_as<std::vector<SplitKey>>;
    { t.region(std::span<const typename T::Point>{}) } -> std::same_as<typename T::Region>;
    { pull.cost(point) } -> std::same_as<std::uint64_t>;
    { pull.bound(region) } -> std::same_as<std::uint64_t>;
    { t.describe() } -> std::same_as<std::string>;
};

}  // namespace topoloom
