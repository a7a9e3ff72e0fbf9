// SPDX-License-Identifier: BSD-3-Clause
// Multicast trees for switches; in reverse, reduction trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"
#include "topoloom/machine/topologies/torus.hpp"

namespace topoloom {

/// Links that lead away from the root, each after the link to its source. Every vertex has one incoming link;
/// all leaves are members.
struct SpanningTree {
    Node root;
    std::vector<Link> links;
};

/// A multicast group; the root may be a member.
struct Multicast {
    Node root;
    std::vector<Node> members;
};

/// The number of trees on each link, and on each vertex (switch, router or node).
struct TreeLoads {
    std::vector<std::uint32_t> on_link;
    std::vector<std::uint32_t> on_vertex;
};
/// Throws Error for trees with roots or links that the machine does not have.
[[nodiscard]] TreeLoads tree_loads(const Machine& machine, std::span<const SpanningTree> trees);

/// Chooses the parent, and the cable to it, with the fewest trees; or always the last.
enum class ParentChoice { least_loaded, last };

/// Builds trees on a fat tree, each with regard to the previous ones: from the root up to a switch above all
/// members, then down to them. The switches of a tree are the same for every member that sends. O(links of
/// the tree * ports of a switch) per tree. Source: Kumar 2005, 8.4; its listing does not record the port up,
/// and its descent does not end at nodes. Throws Error for nodes that do not exist and multicasts without
/// members.
[[nodiscard]] std::vector<SpanningTree> switch_trees(const FatTree& tree,
                                                     std::span<const Multicast> multicasts,
                                                     ParentChoice choice = ParentChoice::least_loaded);

/// Merges the routes from the root to all members: on a torus the dimension-ordered tree. If two routes enter
/// a vertex, the first one is kept. Throws Error like switch_trees().
[[nodiscard]] SpanningTree route_tree(const Machine& machine, const Multicast& multicast);

/// Trees no two of which have a link in common: on a torus two for every axis, as many as links lead into a router, so
/// that there can't be more (Edmonds 1973); if an axis does not close, one for every axis. Axes of one router do not
/// count.
///
/// Let the root be 0. The tree of axis i and direction s goes along the axes i, i + 1, ... round to i - 1 in turn, always
/// in direction s, to all routers with x_i != 0; those with x_i = 0 it comes to by one more step along i. Hence into a
/// router x it comes along i, if x_i = 0, and else along the last axis before i, wrapping at the end, on which x is not
/// 0: another one for every i. Throws Error likewise.
template <std::size_t Width>
[[nodiscard]] std::vector<SpanningTree> disjoint_trees(const BasicTorus<Width>& torus,
                                                       const Multicast& multicast);

}  // namespace topoloom
