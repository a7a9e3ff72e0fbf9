// SPDX-License-Identifier: BSD-3-Clause
// Fat trees: k-ary n-trees and generalizations, with any number of parents and parallel cables.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/topologies/tree.hpp"

namespace topoloom {

/// How messages choose among the routes up the tree.
///
/// by_target, by_source  by the number of the target or source node (d-mod-k, s-mod-k): always the same route
/// random                in equal parts over all routes up: a model of adaptive and random routing
/// simgrid               up by target, down over the parallel cables that SimGrid 3.32 chooses
enum class FatTreeRouting { by_target, by_source, random, simgrid };

/// Parameters of a fat tree; lists are bottom-up, one entry per level.
struct FatTreeSpec {
    std::vector<std::uint32_t> arity;  // number of children of a switch of each level
    /// Number of parents per child; empty: 1 at the lowest level, then as many as children.
    std::vector<std::uint32_t> up;
    std::vector<std::uint32_t> parallel;  // number of cables to each parent; empty: 1
    FatTreeRouting routing = FatTreeRouting::by_target;
    std::vector<BytesPerSecond> bandwidth;  // bandwidth per cable and direction; empty: 1 B/s
    std::vector<Seconds> latency;           // empty: 0
};

/// The parallel ports generalized fat tree of Zahavi (D-mod-K routing providing non-blocking traffic for shift
/// permutations on real life fat trees, 2010). It includes the k-ary n-trees of Petrini and Vanneschi (1997) and the
/// extended generalized fat trees of Öhring et al. (1995).
///
/// A subtree of level j has arity[0] * ... * arity[j-1] nodes under W(j) = up[0] * ... * up[j-1] switches,
/// its roots. Root i is linked to the roots i, i + W(j), i + 2 W(j) ... of the subtree of level j + 1. A
/// message climbs to the smallest subtree with both nodes. Node x, the target or the source, selects its
/// route: up and down it passes the roots x mod W(j), and its port up from there is x / W(j) modulo the
/// number of ports.
class FatTree {
   public:
    using Point = Tree::Point;

    static constexpr std::size_t max_levels = 32;

    /// Throws Error for lists of the wrong length or with zeros, and for more nodes or links than ids.
    explicit FatTree(FatTreeSpec spec);

    [[nodiscard]] std::size_t node_count() const { return tree_.node_count(); }
    [[nodiscard]] std::size_t link_count() const { return link_count_; }
    [[nodiscard]] std::size_t vertex_count() const { return vertex_count_; }

    [[nodiscard]] Point point(Node node) const { return tree_.point(node); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return tree_.hops(a, b); }
    [[nodiscard]] std::uint32_t diameter() const { return tree_.diameter(); }
    /// The tree with the same groups, which has the same distances.
    [[nodiscard]] const Tree& geometry() const { return tree_; }
    [[nodiscard]] bool forwards(std::uint32_t vertex) const { return vertex >= node_count(); }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const;

    /// Computes link loads in O(levels) per message, even if the message is split over many routes. visit_sum_links()
    /// visits the links at which the caller adds the bytes, and convert_sums() converts the sums to loads.
    template <class Visit>
    void visit_sum_links(Node a, Node b, const Visit& visit) const;
    void convert_sums(std::span<double> loads) const;

    /// Vertices are the nodes, then the switches level by level, subtree by subtree.
    [[nodiscard]] std::uint32_t vertex(Node node) const { return node.value; }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[level_of(link)]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[level_of(link)]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const FatTreeSpec& spec() const { return spec_; }

   private:
    /// The cables between two levels. Above a subtree, cable c leads from root c mod W(j) to root c mod W(j +
    /// 1) of the level above. If node x selects the route of a message, the message uses cable x mod cables,
    /// both up and down.
    struct Level {
        Divisor nodes;   // nodes in a subtree below
        Divisor cables;  // above it
        std::uint32_t first_link = 0;
    };

    void complete_spec();
    [[nodiscard]] std::uint32_t level_of(Link link) const;
    /// The index of the cable among the cables above the same subtree.
    [[nodiscard]] std::uint32_t cable_of(Link link) const;
    template <class Visit>
    void route_steered(std::uint32_t a, std::uint32_t b, std::uint32_t selecting_node,
                       const Visit& visit) const;
    template <class Visit>
    void route_spread(std::uint32_t a, std::uint32_t b, const Visit& visit) const;
    template <class Visit>
    void route_simgrid(std::uint32_t a, std::uint32_t b, const Visit& visit) const;
    static constexpr std::uint32_t no_port = 1U << 31;
    /// The port that SimGrid uses to descend from level j + 1 on the route from a to b if its search starts
    /// at port `first`. Port c * arity + i is cable c to child i.
    [[nodiscard]] std::uint32_t simgrid_port(std::size_t j, std::uint32_t a, std::uint32_t b,
                                             std::uint32_t first) const;

    FatTreeSpec spec_;
    Tree tree_;
    std::vector<Level> levels_;
    std::vector<std::uint32_t> roots_;         // [j]: W(j)
    std::vector<std::uint32_t> first_vertex_;  // [j]: first vertex of level j; nodes are level 0
    std::size_t link_count_ = 0;
    std::size_t vertex_count_ = 0;
};

template <class Visit>
void FatTree::route(Node a, Node b, const Visit& visit) const {
    if (spec_.routing == FatTreeRouting::random) {
        route_spread(a.value, b.value, visit);
    } else if (spec_.routing == FatTreeRouting::simgrid) {
        route_simgrid(a.value, b.value, visit);
    } else {
        route_steered(a.value, b.value, spec_.routing == FatTreeRouting::by_target ? b.value : a.value,
                      visit);
    }
}

/// Sums traffic that is split equally over the cables above a subtree on the first of these cables.
template <class Visit>
void FatTree::visit_sum_links(Node a, Node b, const Visit& visit) const {
    if (spec_.routing == FatTreeRouting::random) {
        route_steered(a.value, b.value, 0, visit);
    } else {
        route(a, b, visit);
    }
}

template <class Visit>
void FatTree::route_steered(std::uint32_t a, std::uint32_t b, std::uint32_t selecting_node,
                            const Visit& visit) const {
    std::array<std::uint32_t, max_levels> down;
    std::size_t top = 0;
    for (; top < levels_.size(); ++top) {
        const Level& level = levels_[top];
        const std::uint32_t from = level.nodes.quotient(a);
        const std::uint32_t to = level.nodes.quotient(b);
        if (from == to) break;
        const std::uint32_t link = level.first_link + 2 * level.cables.remainder(selecting_node);
        visit(Link{link + 2 * from * level.cables.value()}, 1.0);
        down[top] = link + 2 * to * level.cables.value() + 1;
    }
    while (top-- > 0) visit(Link{down[top]}, 1.0);
}

template <class Visit>
void FatTree::route_spread(std::uint32_t a, std::uint32_t b, const Visit& visit) const {
    const auto visit_all = [&](const Level& level, std::uint32_t node, std::uint32_t downwards) {
        const std::uint32_t cables = level.cables.value();
        const std::uint32_t first = level.first_link + 2 * level.nodes.quotient(node) * cables + downwards;
        const double share = 1.0 / cables;
        for (std::uint32_t c = 0; c < cables; ++c) visit(Link{first + 2 * c}, share);
    };
    std::size_t top = 0;
    for (; top < levels_.size(); ++top) {
        if (levels_[top].nodes.quotient(a) == levels_[top].nodes.quotient(b)) break;
        visit_all(levels_[top], a, 0);
    }
    while (top-- > 0) visit_all(levels_[top], b, 1);
}

template <class Visit>
void FatTree::route_simgrid(std::uint32_t a, std::uint32_t b, const Visit& visit) const {
    std::size_t level = 0;
    std::uint32_t next_port = no_port;
    route_steered(a, b, b, [&](Link link, double share) {
        if (link.value % 2 == 0) {
            ++level;
        } else {
            const std::uint32_t port = simgrid_port(--level, a, b, next_port);
            next_port = port + 1;
            const std::uint32_t roots = roots_[level + 1];
            const std::uint32_t first = link.value - 2 * (levels_[level].cables.remainder(b) / roots * roots);
            link = Link{first + 2 * (port / spec_.arity[level] * roots)};
        }
        visit(link, share);
    });
}

extern const TopologyNotation<FatTree> fat_tree_notation;

}  // namespace topoloom
