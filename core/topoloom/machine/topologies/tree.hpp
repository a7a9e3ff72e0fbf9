// SPDX-License-Identifier: BSD-3-Clause
// A tree of equal groups: nodes are leaves, and messages climb to the smallest common group and descend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/levels.hpp"
#include "topoloom/machine/geometry/pointwise_distance_sum.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// Parameters of a tree; lists are bottom-up, one entry per level.
struct TreeSpec {
    std::vector<std::uint32_t> arity;
    /// Absolute distances; empty: the number of links on the route, 2, 4, 6 ...
    std::vector<std::uint32_t> distance;
    std::vector<BytesPerSecond> bandwidth;  // bandwidth of the links above each level; empty: 1 B/s
    std::vector<Seconds> latency;           // empty: 0
};

/// The hierarchy `a1:a2:...` of KaHIP and similar mappers. Each group has one link up to the group above, and one down.
class Tree {
   public:
    using Point = Levels::Key;
    /// All leaves between two keys.
    struct Region {
        Point low;
        Point high;
    };
    using DistanceSum = PointwiseDistanceSum<Tree>;

    /// Throws the same errors as Levels, and Error for lists of the wrong length.
    explicit Tree(TreeSpec spec);

    [[nodiscard]] std::size_t node_count() const { return levels_.size(); }
    [[nodiscard]] std::size_t link_count() const { return 2 * (vertex_count() - 1); }
    [[nodiscard]] std::size_t vertex_count() const { return offset_.back() + 1; }

    [[nodiscard]] Point point(Node node) const { return levels_.key(node.value); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return 2 * levels_.common_level(a, b); }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return levels_.distance(a, b); }
    [[nodiscard]] std::uint32_t diameter() const;
    [[nodiscard]] std::uint32_t max_distance() const;
    [[nodiscard]] const Tree& geometry() const { return *this; }
    [[nodiscard]] bool distances_are_hops() const {
        for (std::uint32_t j = 0; j < spec_.distance.size(); ++j) {
            if (spec_.distance[j] != 2 * (j + 1)) return false;
        }
        return true;
    }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        const auto group = [&](std::size_t level, Node node) { return span_[level].quotient(node.value); };
        std::size_t top = 0;
        for (; group(top, a) != group(top, b); ++top) visit(Link{2 * (offset_[top] + group(top, a))}, 1.0);
        while (top-- > 0) visit(Link{2 * (offset_[top] + group(top, b)) + 1}, 1.0);
    }

    /// Vertices are the leaves, then the groups level by level, with the root last.
    [[nodiscard]] std::uint32_t vertex(Node node) const { return node.value; }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[level_of(link)]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[level_of(link)]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::vector<std::uint64_t> total_distances(std::span<const Point> points) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const TreeSpec& spec() const { return spec_; }

    [[nodiscard]] Region region(std::span<const Point> points) const;
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const {
        return levels_.split_keys(points);
    }
    /// Keys have the order of leaves, so the nearest leaf of a range is one of its ends.
    [[nodiscard]] std::uint32_t distance_from(const Region& range, Point p) const {
        if (range.low <= p && p <= range.high) return 0;
        return p < range.low ? distance(p, range.low) : distance(p, range.high);
    }

   private:
    [[nodiscard]] std::uint32_t level_of(Link link) const;

    TreeSpec spec_;
    Levels levels_;
    std::vector<std::uint32_t> offset_;  // [j]: first vertex of level j; [count]: the root
    std::vector<Divisor> span_;          // [j]: leaves under a vertex of level j
};

extern const TopologyNotation<Tree> tree_notation;

}  // namespace topoloom
