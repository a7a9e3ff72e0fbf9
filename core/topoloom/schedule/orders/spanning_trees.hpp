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
/// Throws Error if the machine lacks the root or a link of a tree.
[[nodiscard]] TreeLoads tree_loads(const Machine& machine, std::span<const SpanningTree> trees);

/// Which parent, and which cable to it, a tree uses: those with the fewest trees, or always the last ones.
enum class ParentChoice { least_loaded, last };

/// Builds trees on a fat tree one after the other, so that each avoids the links of previous ones. A tree
/// leads from the root up to a switch above all members, then down to them. The switches of a tree are the
/// same for every member that sends. O(links of the tree * ports of a switch) per tree. Source: Kumar 2005,
/// 8.4; its listing does not record the port up, and its descent does not end at nodes. Throws Error for
/// nodes that do not exist and multicasts without members.
[[nodiscard]] std::vector<SpanningTree> switch_trees(const FatTree& tree,
                                                     std::span<const Multicast> multicasts,
                                                     ParentChoice choice = ParentChoice::least_loaded);

/// Merges the routes from the root to all members: on a torus the dimension-ordered tree. If two routes enter
/// a vertex, the first one is kept. Throws Error like switch_trees().
[[nodiscard]] SpanningTree route_tree(const Machine& machine, const Multicast& multicast);

/// Link-disjoint spanning trees. A torus has two trees per axis: as many as there are links into a router,
/// which is the maximum (Edmonds 1973). If an axis is open, there is one tree per axis. Axes of one router are
/// ignored. Throws Error like switch_trees().
///
/// Why the trees are disjoint, with root 0: the tree of axis i and direction s follows the axes i, i + 1, ...
/// cyclically, always in direction s, to all routers with x_i != 0. One more step along i leads to the
/// routers with x_i = 0. A router x with x_i = 0 is therefore entered along axis i. Any other router is
/// entered along the last axis before i, cyclically, on which x is not 0. These axes differ for every i.
template <std::size_t Width>
[[nodiscard]] std::vector<SpanningTree> disjoint_trees(const BasicTorus<Width>& torus,
                                                       const Multicast& multicast);

}  // namespace topoloom
